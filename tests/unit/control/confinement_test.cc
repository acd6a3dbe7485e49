// A client that is confined more tightly than the daemon must not escape through it.
#include "control/confinement.h"

#include <gtest/gtest.h>

namespace corral::control {
namespace {

Surroundings plain() { return {{"user:[1]", "mnt:[2]", "pid:[3]", "net:[4]"}, 0U, 0U, 0U}; }

TEST(Confinement, OfEqualsIsNothing) {
  Surroundings contained = plain();
  contained.no_new_privs = 1;
  contained.seccomp = 2;
  contained.seccomp_filters = 3;

  EXPECT_EQ(more_confined(plain(), plain()), "");
  EXPECT_EQ(more_confined(contained, contained), "");
}

TEST(Confinement, OfTheDaemonItselfDoesNotCountAgainstThePeer) {
  Surroundings own = plain();
  own.no_new_privs = 1;
  own.seccomp = 2;
  own.seccomp_filters = 1;

  EXPECT_EQ(more_confined(plain(), own), "");
}

TEST(Confinement, EachNamespaceIsNamed) {
  const char* const phrases[] = {"its own user namespace", "its own mount namespace", "its own PID namespace",
                                 "its own network namespace"};
  for (std::size_t i = 0; i < std::size(phrases); ++i) {
    Surroundings peer = plain();
    peer.namespaces[i] = "other:[9]";

    EXPECT_EQ(more_confined(peer, plain()), phrases[i]);
  }
}

TEST(Confinement, SeveralAreListed) {
  Surroundings peer = plain();
  peer.namespaces[1] = "mnt:[9]";
  peer.no_new_privs = 1;

  EXPECT_EQ(more_confined(peer, plain()), "its own mount namespace, no_new_privs");
}

TEST(Confinement, OneFilterMoreThanOursCounts) {
  Surroundings own = plain();
  own.seccomp = 2;
  own.seccomp_filters = 1;
  Surroundings peer = own;
  peer.seccomp_filters = 2;

  EXPECT_EQ(more_confined(peer, own), "a seccomp filter");
}

TEST(Confinement, AFilterCountsWhereTheKernelDoesNotCountThem) {
  Surroundings own = plain();
  own.seccomp_filters.reset();
  Surroundings peer = own;
  peer.seccomp = 2;

  EXPECT_EQ(more_confined(peer, own), "a seccomp filter");
  EXPECT_EQ(more_confined(own, own), "");
}

TEST(Confinement, WhatCannotBeReadCounts) {
  Surroundings no_namespace = plain();
  no_namespace.namespaces[2].reset();
  Surroundings no_status = plain();
  no_status.no_new_privs.reset();
  no_status.seccomp.reset();

  EXPECT_NE(more_confined(no_namespace, plain()), "");
  EXPECT_NE(more_confined(no_status, plain()), "");
  EXPECT_NE(more_confined({}, plain()), "");
  EXPECT_NE(more_confined(plain(), {}), "");
}

TEST(HeldTighter, NamesEachFilterThatTheOtherLacks) {
  Surroundings bare_but_privs = plain();
  bare_but_privs.no_new_privs = 1;
  Surroundings filtered = bare_but_privs;
  filtered.seccomp = 2;
  filtered.seccomp_filters = 1;
  Surroundings more_filtered = filtered;
  more_filtered.seccomp_filters = 2;

  EXPECT_EQ(held_tighter(bare_but_privs, plain()), "no_new_privs");
  EXPECT_EQ(held_tighter(filtered, plain()), "no_new_privs, a seccomp filter");
  EXPECT_EQ(held_tighter(more_filtered, filtered), "a seccomp filter");
}

TEST(HeldTighter, IsNothingForEqualsForTheLooserAndForOtherNamespaces) {
  Surroundings filtered = plain();
  filtered.no_new_privs = 1;
  filtered.seccomp = 2;
  filtered.seccomp_filters = 3;
  Surroundings elsewhere = plain();
  elsewhere.namespaces[1] = "mnt:[9]";

  EXPECT_EQ(held_tighter(filtered, filtered), "");
  EXPECT_EQ(held_tighter(plain(), filtered), "");
  EXPECT_EQ(held_tighter(elsewhere, plain()), "");
}

TEST(HeldTighter, WhatCannotBeReadIsEqual) {
  Surroundings filtered = plain();
  filtered.no_new_privs = 1;
  filtered.seccomp = 2;
  filtered.seccomp_filters = 3;

  EXPECT_EQ(held_tighter({}, plain()), "");
  EXPECT_EQ(held_tighter(filtered, {}), "");
}

TEST(Confinement, IsReadFromTheStatusFile) {
  Surroundings found;

  read_status("Name:\tNoNewPrivs:\nNoNewPrivs:\t1\nSeccomp:\t2\nSeccomp_filters:\t17\n", found);

  EXPECT_EQ(found.no_new_privs, 1U);
  EXPECT_EQ(found.seccomp, 2U);
  EXPECT_EQ(found.seccomp_filters, 17U);
}

TEST(Confinement, AStatusFileThatSaysNothingIsUnreadable) {
  for (const char* text : {"", "NoNewPrivs:", "NoNewPrivs:\tx\nSeccomp:\t-1\n", "\n\n", "Seccomp"}) {
    Surroundings found = plain();

    read_status(text, found);

    EXPECT_FALSE(found.no_new_privs) << text;
    EXPECT_FALSE(found.seccomp) << text;
  }
}

TEST(Confinement, OfThisProcessCanBeRead) {
  const Surroundings own = surroundings_of(0);

  EXPECT_EQ(more_confined(own, own), "");
}

}  // namespace
}  // namespace corral::control
