"""The measured numbers as a page of markdown, and as data."""

import statistics

DIRECT = "direct stdio"


def seconds(value):
    return f"{value:.1f} s" if value >= 1 else f"{value * 1000:.0f} ms" if value >= 0.02 else f"{value * 1000:.1f} ms"


def ratio_text(ratio):
    return f"{ratio:.2f}" if ratio >= 0.1 else f"{ratio:.4f}" if ratio >= 0.0001 else "<0.0001"


def cell(values, yardsticks):
    """The median, and the median of the ratios pass by pass."""
    if any(value is None for value in values):
        return "–"
    ratio = statistics.median(value / base for value, base in zip(values, yardsticks))
    return f"{seconds(statistics.median(values))} · {ratio_text(ratio)} ×"


def state(sample):
    if len(set(sample.counts)) == len(sample.counts):
        return "shared"
    return "each its own" if set(sample.counts) == {1} else "mixed"


def break_even(cold, following, direct):
    """From which session on it has cost less waiting than direct stdio, by the first answers. Less than a tenth does
    not count: two equal starts differ by that much on a busy machine."""
    if cold < 0.9 * direct:
        return "1st"
    if following > 0.9 * direct:
        return "never"
    sessions = 2
    while max(cold, direct) + (sessions - 1) * following >= sessions * direct:
        sessions += 1
    return {2: "2nd", 3: "3rd"}.get(sessions, f"{sessions}th")


def rows(passes):
    direct = [samples[0] for samples in passes]
    for samples in zip(*passes):
        last = samples[-1]
        failed = next((sample.failed for sample in samples if sample.failed), "")
        if failed:
            yield last.name, [f"*{failed}*"] + [""] * 7
            continue
        bases = [[d.cold[0] for d in direct], [d.cold[1] for d in direct]]
        following = [[d.next_list for d in direct], [d.next_answer for d in direct]]
        answer = statistics.median(sample.next_answer for sample in samples)
        cold = statistics.median(sample.cold[1] for sample in samples)
        pays = break_even(cold, answer, statistics.median(bases[1] + following[1]))
        yield last.name, [
            cell([s.cold[0] for s in samples], bases[0]),
            cell([s.cold[1] for s in samples], bases[1]),
            cell([s.next_list for s in samples], following[0]),
            cell([s.next_answer for s in samples], following[1]),
            f"{last.servers} + {last.others}",
            f"{last.server_mb:.0f} + {last.other_mb:.1f} MB",
            state(last),
            "–" if last.name == DIRECT else pays,
        ]


HEADER = (
    "| approach | cold: tools | cold: first answer | next client: tools | next client: first answer "
    "| processes, 3 clients | memory, 3 clients | state | pays off from session |\n"
    "|---|--:|--:|--:|--:|--:|--:|---|---|\n"
)


def table(passes):
    return HEADER + "".join(f"| {name} | {' | '.join(cells)} |\n" for name, cells in rows(passes))


# What the notes that corral was built from report for a server with 29 tools that takes 30 to 40 s to start, on another
# machine (WSL2), and our row for the same approach.
SEED = [
    ("agent gateway", "1.2 s", "0.8 s", "about 10,150", None),
    ("subprocess, stdio", "46.6 s", "32.4 s", "0", DIRECT),
    ("socket forward", "12.3 s", "8.1 s", "", "socat UNIX-LISTEN,fork EXEC"),
    ("daemon, SSE (started once, 30 to 40 s)", "1.8 s", "1.1 s", "0", "mcp-proxy 6.7.19 (npm), HTTP"),
    ("", "", "", "", "`connect`, shared"),
    ("", "", "", "", "`connect`, private, `warm: 3`"),
]


def compared_with_seed(measured):
    text = (
        "**The figures of the original notes, from another machine (WSL2, a server with 29 tools), and ours**; tokens are "
        "those in the main session:\n\n"
        "| approach | theirs: cold | theirs: warm | tokens | ours, 30 s server | cold: first answer "
        "| next client: first answer |\n|---|--:|--:|--:|---|--:|--:|\n"
    )
    for approach, cold, warm, tokens, ours in SEED:
        cells = measured.get(ours, [""] * 8)
        text += f"| {approach} | {cold} | {warm} | {tokens} | {ours or 'not in this release'} | {cells[1]} | {cells[3]} |\n"
    return text


def page(about, delay, slow, quick, mixed):
    total = sum(mixed.values())
    text = (
        f"Measured on {about['date']}: {about['cpus']} cores ({about['cpu']}), Linux {about['kernel']}, "
        f"load {about['load_at_start']:.1f} at the start.\n\n"
        f"**A server that takes {delay:.0f} s to start**, median of {len(slow)} passes:\n\n{table(slow)}\n"
        f"**The same server without the wait** (a Python script), median of {len(quick)} passes:\n\n{table(quick)}\n"
        f"**FIFO, two clients at once**: of {total} requests, each with an id that the other client uses too, "
        f"{mixed['right']} got their own answer, {mixed['foreign']} got the other client's answer and accepted it, "
        f"{mixed['lost']} got none.\n\n{compared_with_seed(dict(rows(slow)))}"
    )
    return text, {"fifo": mixed, "slow": dict(rows(slow)), "quick": dict(rows(quick))}
