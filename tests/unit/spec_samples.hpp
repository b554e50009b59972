// Owns the texts that several spec tests read: a small one, and one in which every field has a value of its own.
#pragma once
#include <string>

#include "agent/model/spec_read.hpp"

namespace nvstripe::samples {

inline const std::string kSmall = R"(version: 1
connections:
  - {name: s1, address: 10.9.0.1}
volumes:
  - name: train
    members: {from: [s1], count: 4}
    mount: {path: /mnt/train}
)";

inline const std::string kFull = R"(version: 1
node:
  host_id: deadbeef-0011-2233-4455-66778899aabb
  failure_domain: rack-7
exports:
  - name: pool
    devices: {kind: local_ssd, min_size: 100GB, max_size: 4TB, model: "INTEL *", serials: [A1, "002"], count: 2}
    slices: 3
    transports: [tcp]
    listen: {network: 10.9.0.0/24, port: 4421}
    allow:
      - {host: "nqn.2014-08.org.nvmexpress:uuid:aaaaaaaa-0011-2233-4455-66778899aabb", slices: 2}
      - {host: "nqn.2014-08.org.nvmexpress:uuid:bbbbbbbb-0011-2233-4455-66778899aabb", slices: 1}
  - name: other
    listen: {interface: eth1}
    allow: [{host: "nqn.2014-08.org.nvmexpress:uuid:cccccccc-0011-2233-4455-66778899aabb", slices: all}]
connections:
  - {name: s1, address: 10.9.0.1, port: 4422, transport: tcp, subsystem: "nqn.2026-11.io.nvstripe:pool:1", failure_domain: rack-1}
  - {name: s2, address: "fd00:9::2", transport: rdma, failure_domain: rack-2}
volumes:
  - name: train
    members: {from: [s1, s2], count: 8, min_failure_domains: 2, unequal_sizes: trim}
    redundancy: none
    stack: lvm
    workload: checkpoint
    chunk: 64KiB
    want: {read: 900MB/s, write: 400MB/s}
    mount: {path: /mnt/train, owner: trainer, group: "1000", mode: "2775"}
    on_foreign_data: wipe
tuning: {profile: off}
telemetry:
  listen: "127.0.0.1:9766"
  web_config: /etc/nvstripe/web.yml
  upstream:
    events: {url: "https://collector:8443/events"}
    metrics: {url: "https://collector:4318", every: 30s}
    remote_write: {url: "http://127.0.0.1:9090/api/v1/write", every: 1m}
)";

inline SpecReading load(const std::string& text) { return load_spec({{"nvstripe.yaml", text}}); }

// The first error as text; empty if there is none.
inline std::string first_error(const std::string& text) {
  const SpecReading reading = load(text);
  return reading.errors.empty() ? std::string() : to_text(reading.errors.front());
}

}  // namespace nvstripe::samples
