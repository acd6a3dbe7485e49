// One function per measurement. Each starts what it needs, ends it, and adds its table to the results.
#pragma once

#include "results.h"
#include "session.h"

namespace corral::bench {

/// Small messages to and fro; `one_core` pins client, corral and server to the same core.
void measure_round_trip(const Bench& bench, Results& results, bool one_core);

/// From spawn to the first answer.
void measure_start(const Bench& bench, Results& results);

/// PSS and RSS of corral's own processes.
void measure_memory(const Bench& bench, Results& results);

/// The end of a large tree that ignores everything but SIGKILL.
void measure_kill(const Bench& bench, Results& results);

/// From the client's close of stdin to the end of what it started, with a server that leaves when asked.
void measure_end(const Bench& bench, Results& results);

/// `corral doctor` on an empty and on a crowded machine.
void measure_doctor(const Bench& bench, Results& results);

/// `corral adopt --dry-run` over the files of twelve clients.
void measure_adopt(const Bench& bench, Results& results);

/// What the trees of `corral ps` use, on a made-up /proc.
void measure_ps(const Bench& bench, Results& results);
/// What the registry costs, against a plain write and an attach.
void measure_registry(const Bench& bench, Results& results);
/// The search for what an earlier daemon has left, on a /proc of 10,000 processes.
void measure_reconcile(const Bench& bench, Results& results);

// ---- `corral connect`, against an ideal forwarder

/// Small messages to and fro through the daemon.
void measure_connect_round_trip(const Bench& bench, Results& results, bool one_core);

/// 1 to 256 clients on one server, every answer checked.
void measure_connect_throughput(const Bench& bench, Results& results, bool one_core);

/// 100 bytes to 10 MB, and the daemon's peak of memory.
void measure_connect_sizes(const Bench& bench, Results& results);

/// From the start of the shim to the list of tools; from the start of the daemon until it is ready.
void measure_connect_attach(const Bench& bench, Results& results);

/// The same where nothing runs: from a manifest, with a spare, cold; against the server started directly.
void measure_connect_start(const Bench& bench, Results& results);

/// A call between client and server of different eras, against the same call within one.
void measure_connect_bridge(const Bench& bench, Results& results);

/// Memory with 0 to 1,000 sessions; CPU time per call.
void measure_connect_memory(const Bench& bench, Results& results);

/// The longest ping of another session while one client wants more than its share.
void measure_connect_hostile(const Bench& bench, Results& results);

/// From the death of a server to the next answer, and from the call of a parked session to its answer.
void measure_connect_restart(const Bench& bench, Results& results);

/// CPU time, wake-ups and memory of a daemon with 100 parked sessions.
void measure_connect_parked(const Bench& bench, Results& results);

// ---- `corral serve`, for clients that connect by URL

/// Small messages to and fro over HTTP.
void measure_http_round_trip(const Bench& bench, Results& results, bool one_core);

/// 1 to 256 clients on one server over HTTP, every answer checked.
void measure_http_throughput(const Bench& bench, Results& results, bool one_core);

/// 4 KB to 10 MB over HTTP, and the daemon's peak of memory.
void measure_http_sizes(const Bench& bench, Results& results);

/// From the connect to the list of tools.
void measure_http_attach(const Bench& bench, Results& results);

/// 10,000 silent streams: memory, and a call meanwhile.
void measure_http_memory(const Bench& bench, Results& results);

// ---- others

/// socat, and the proxies that peers/install has installed.
void measure_connect_peers(const Bench& bench, Results& results);

}  // namespace corral::bench
