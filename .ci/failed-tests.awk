# What `cargo test` printed, shortened to what failed: each failed test with the last 40 lines it printed but for backtraces,
# and the error lines of cargo and of test programs that ended by a signal.

/^---- .* stdout ----$/ { test = ++count; heads[test] = $0; next }
/^failures:$/ { test = 0 }
/^stack backtrace:$/ { is_backtrace = 1 }
test && !is_backtrace { printed[test, ++length_of[test]] = $0 }
/^note: Some details are omitted/ { is_backtrace = 0 }
/^error: test failed|^error: could not compile|process didn't exit successfully/ { errors[++error_count] = $0 }

END {
  for (test = 1; test <= count; test++) {
    print heads[test]
    for (line = (length_of[test] > 40 ? length_of[test] - 39 : 1); line <= length_of[test]; line++) print printed[test, line]
  }
  for (i = 1; i <= error_count; i++) print errors[i]
}
