// What a daemon might say in answer to `status`, for tests of what people are shown.
#pragma once

#include <boost/json/parse.hpp>
#include <string>

namespace corral::cli {

inline boost::json::value busy_status() {
  return boost::json::parse(R"({
    "daemon":{"pid":4711,"version":"0.9.1","uptime_ms":3900000},
    "servers":[{"name":"files","stopped":false},{"name":"old","stopped":true}],
    "instances":[
      {"server":"files","id":"aaaaaaaa11","version":"2.0","pid":101,"keeper":100,"state":"ready","share":"shared",
       "reason":"shared: every tool is annotated as read-only","level":"keeper+cgroup","stale":null,"root":null,
       "sessions":[1,2],"calls":1,"uptime_ms":250000,"limits":{"memory":536870912,"pids":64,"cpu":1.5,"recycle":null},
       "usage":{"memory":84934656,"cpu":0.5,"processes":[
         {"pid":101,"parent":100,"name":"npm","state":"S","memory":20971520,"cpu_ms":350,"age_ms":250000},
         {"pid":102,"parent":101,"name":"node","state":"R","memory":63963136,"cpu_ms":12000,"age_ms":249000},
         {"pid":103,"parent":100,"name":"helper","state":"S","memory":0,"cpu_ms":0,"age_ms":1000}]}},
      {"server":"search","id":"bbbbbbbb22","pid":201,"keeper":200,"state":"idle","share":"session",
       "reason":"private: share is set to \"session\"","level":"keeper","stale":"/opt/search/main.py has changed",
       "root":"/home/me/project","sessions":[],"calls":0,"uptime_ms":7200000,
       "usage":{"memory":209715200,"cpu":0.01,"processes":[
         {"pid":201,"parent":200,"name":"python3","state":"S","memory":209715200,"cpu_ms":90,"age_ms":7200000}]}}],
    "sessions":[
      {"id":1,"server":"files","client":{"pid":812,"name":"codex","version":"1.2","command":"codex exec",
       "root":"/home/me/project"},"transport":"stdio","state":"ready","instance":"aaaaaaaa11","age_ms":240000,"calls":1},
      {"id":2,"server":"files","client":{"pid":0,"name":"claude","version":""},"transport":"http","state":"ready",
       "instance":"aaaaaaaa11","age_ms":1000,"calls":0},
      {"id":3,"server":"notes","client":{"pid":812,"name":"codex","version":"1.2"},"transport":"stdio",
       "state":"parked","instance":null,"age_ms":900000,"calls":0}]})");
}

/// A stopped server with a session, a broken one with two and one with none, and a healthy one.
inline boost::json::value halted_status() {
  return boost::json::parse(R"({
    "servers":[{"name":"files","stopped":true,"broken":null},{"name":"notes","stopped":false,"broken":null},
      {"name":"loop","stopped":false,"broken":"server loop exited with code 7"},
      {"name":"tired","stopped":false,"broken":"server tired was killed by signal 9"}],
    "instances":[],
    "sessions":[
      {"id":1,"server":"files","client":{"pid":812,"name":"codex"},"state":"parked","instance":null},
      {"id":2,"server":"loop","client":{"pid":812,"name":"codex"},"state":"parked","instance":null},
      {"id":3,"server":"loop","client":{"pid":813,"name":"claude"},"state":"opening","instance":null},
      {"id":4,"server":"notes","client":{"pid":812,"name":"codex"},"state":"parked","instance":null}]})");
}

/// Everything in it is of a wrong type, or an attack on a terminal.
inline boost::json::value hostile_status() {
  return boost::json::parse(
      "{\"daemon\":[],\"instances\":[7,null,{},"
      "{\"server\":\"evil\\u001b[2J\\nname\\u202e\",\"id\":5,\"pid\":-4,\"keeper\":1e99,\"state\":"
      "\"re\\u009bady\","
      "\"reason\":\"\\u0007bell\",\"uptime_ms\":-1,\"limits\":\"none\",\"usage\":{\"memory\":\"much\","
      "\"cpu\":-3,"
      "\"processes\":[{\"pid\":1,\"parent\":2,\"name\":\"a\\rb\"},{\"pid\":2,\"parent\":1},9]}}],"
      "\"sessions\":[{\"id\":\"x\\ty\",\"server\":{},\"client\":\"me\",\"instance\":[]},3],\"servers\":4}");
}

}  // namespace corral::cli
