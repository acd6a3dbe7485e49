#!/bin/sh
# A server that starts in a moment, for tests that start hundreds. Its tool answers with its process number and
# the text that it was given. Beside it runs a helper in a session of its own, which no closed pipe ends: alone
# it would outlive the server. Both end by themselves after two minutes.
setsid sleep 120 </dev/null >/dev/null 2>&1 &

answer() {
  printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1"
}

while read -r line; do
  case $line in
    *'"id":'*) ;;
    *) continue ;;
  esac
  id=${line#*'"id":'}
  id=${id%%[,\}]*}
  case $line in
    *'"method":"initialize"'*)
      answer '"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"small","version":"1"}}' ;;
    *'"method":"tools/list"'*)
      answer '"result":{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}' ;;
    *'"method":"tools/call"'*)
      text=${line#*'"text":"'}
      answer "\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"$$ ${text%%'"'*}\"}]}" ;;
    *'"method":"ping"'*)
      answer '"result":{}' ;;
    *)
      answer '"error":{"code":-32601,"message":"there is no such method"}' ;;
  esac
done
