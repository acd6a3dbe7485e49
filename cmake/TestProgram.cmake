# What makes the tests quicker to build.

function(corral_test_program target)
  # The headers that nearly every test includes, compiled once. Only here: in src/ it would hide a missing include.
  target_precompile_headers(${target} PRIVATE
    <gtest/gtest.h>
    <gmock/gmock.h>
    <algorithm>
    <chrono>
    <filesystem>
    <fstream>
    <functional>
    <map>
    <memory>
    <optional>
    <set>
    <sstream>
    <string>
    <string_view>
    <vector>
    ${ARGN})
  # Optimising takes longer than it saves: it is the code under test that has to be fast. And a test that fails
  # names its line without debug information.
  target_compile_options(${target} PRIVATE -O0 -g0)
  set_target_properties(${target} PROPERTIES CORRAL_TEST_PROGRAM ON)
endfunction()
