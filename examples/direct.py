#!/usr/bin/env python3
"""An agent without an MCP library: direct.py MODEL_URL openai|anthropic QUESTION SERVER | -- COMMAND [ARG...]"""
import json, os, subprocess, sys, urllib.request

url, vendor, question, *server = sys.argv[1:]
corral, key = os.environ.get("CORRAL", "corral"), os.environ.get("MODEL_KEY", "")
tools = json.loads(subprocess.check_output([corral, "tools", "--format", vendor, *server]))
session = subprocess.Popen([corral, "call", "--batch", *server], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
messages = [{"role": "user", "content": question}]


def ask_model():
    body = {"model": os.environ.get("MODEL", "scripted"), "max_tokens": 4096, "tools": tools, "messages": messages}
    headers = {"content-type": "application/json", "authorization": f"Bearer {key}", "x-api-key": key,
               "anthropic-version": "2023-06-01"}
    with urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers)) as reply:
        return json.load(reply)


def call(tool, arguments):
    print(json.dumps({"tool": tool, "arguments": arguments}), file=session.stdin, flush=True)
    reply = json.loads(session.stdout.readline())  # {"id", "exit", "result" or "error"}, see docs/direct.md
    return json.dumps(reply.get("result") or reply["error"])


results = True
while results:
    if vendor == "anthropic":
        said = ask_model()["content"]
        results = [{"type": "tool_result", "tool_use_id": block["id"], "content": call(block["name"], block["input"])}
                   for block in said if block["type"] == "tool_use"]
        messages += [{"role": "assistant", "content": said}, {"role": "user", "content": results}]
    else:
        said = ask_model()["choices"][0]["message"]
        results = [{"role": "tool", "tool_call_id": wish["id"], "content": call(
            wish["function"]["name"], json.loads(wish["function"]["arguments"]))} for wish in said.get("tool_calls") or []]
        messages += [said, *results]
print(said[-1]["text"] if vendor == "anthropic" else said["content"])
session.communicate()  # closes its input, which ends the session and the server
