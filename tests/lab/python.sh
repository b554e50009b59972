# For the lab's entry scripts: brings python3 where there is none.
if ! command -v python3 >/dev/null; then
    apt-get -qq update >&2 && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y python3 >&2 || exit 1
fi
