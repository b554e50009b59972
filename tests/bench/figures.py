"""What a benchmark prints: one line a figure, as text for people or JSON for programs, judged against its bar."""
import json
import statistics


def figure(name, case, value, unit, *, peer=None, peer_figure=None, limit=None, at_least=None, at_most=None, of=None):
    """of: what the bar is about, 'ratio' (to the peer), 'of_limit' or 'figure'; at_least/at_most: the bar itself."""
    line = {"name": name, "case": case, "figure": round(value, 3), "unit": unit}
    if peer:
        line.update(peer=peer, peer_figure=round(peer_figure, 3), ratio=round(value / peer_figure, 3))
    if limit:
        line.update(limit=round(limit, 3), of_limit=round(value / limit, 3))
    judged = {"ratio": line.get("ratio"), "of_limit": line.get("of_limit"), "figure": line["figure"]}[of]
    line["bar"] = f"{of} {'>=' if at_least is not None else '<='} {at_least if at_least is not None else at_most}"
    line["met"] = judged >= at_least if at_least is not None else judged <= at_most
    return line


def median(values):
    return statistics.median(values)


def show(line, as_json):
    if as_json:
        print(json.dumps(line), flush=True)
        return
    text = f"{line['name']:10} {line['case']:34} {line['figure']:10.3f} {line['unit']:5}"
    if "peer" in line:
        text += f"  {line['peer']} {line['peer_figure']:.3f}, ratio {line['ratio']:.3f}"
    if "limit" in line:
        text += f"  limit {line['limit']:.3f}, {line['of_limit']:.3f} of it"
    print(f"{text}  {line['bar']}: {'met' if line['met'] else 'NOT MET'}", flush=True)
