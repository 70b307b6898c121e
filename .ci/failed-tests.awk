# What `cargo test` printed, shortened to what failed: each failed test with the last 40 lines it printed, and the error lines
# of cargo and of a test program that ended by a signal.

/^---- .* stdout ----$/ { name = $2; names[++count] = name; length_of[name] = 0; next }
/^failures:$/ { name = "" }
/^error: test failed|^error: could not compile|process didn't exit successfully|signal: / { errors[++error_count] = $0 }
name { printed[name, ++length_of[name]] = $0 }

END {
  for (i = 1; i <= count; i++) {
    name = names[i]
    print "---- " name
    for (line = (length_of[name] > 40 ? length_of[name] - 39 : 1); line <= length_of[name]; line++) print printed[name, line]
  }
  for (i = 1; i <= error_count; i++) print errors[i]
}
