// Error codes of JSON-RPC and MCP, and corral's own, which are outside the range that JSON-RPC reserves.
#pragma once

namespace corral::wire {

inline constexpr int kParseError = -32700;
inline constexpr int kInvalidRequest = -32600;
inline constexpr int kMethodNotFound = -32601;
inline constexpr int kInvalidParams = -32602;
inline constexpr int kInternalError = -32603;
inline constexpr int kUnsupportedVersion = -32022;

inline constexpr int kServerLost = -31001;      // it could not be started, or ended before it answered
inline constexpr int kCallTimedOut = -31002;    // no answer within the call's time limit
inline constexpr int kTooManyCalls = -31003;    // this session has too many calls in flight
inline constexpr int kAnswerTooLarge = -31004;  // the answer passed the line cap
inline constexpr int kToolNotAllowed = -31005;  // the configuration excludes this tool
inline constexpr int kShuttingDown = -31006;
inline constexpr int kAnswerUnreadable = -31007;  // the server's answer is not JSON-RPC

}  // namespace corral::wire
