# Prints one of each in the program values.cpp, after the printers were loaded; check.sh compares what comes out.
set pagination off
set width 0
set disable-randomization off
set debuginfod enabled off
# Newer versions of libstdc++ print a std::chrono::duration themselves, and gdb asks them first.
disable pretty-printer .* libstdc\+\+.*;std::chrono.*
break stop
run
up

define say
    echo $arg0\040=\040
    output $arg0
    echo \n
end
echo == values\n
say id_text
say id_quoted
say id_number
say id_bytes
say id_null
say number
say amount
say score
say weight
say worth
say root
say root_zero
say card
say version
say length
say instant
say no_instant
say seed
say beacon
say moment
say moment_alone
say handle
say handle_none
say name
say list
say list_empty
say words
say models
say models_timed
say models_none
say lease
say started
say queued
say refused
say events
say many
say join
say match
say configure
say update
say pages
say nodes
say leases
say no_leases
say names
echo == uninitialised\n
say *bad_id
say *bad_root
say *bad_name
say *bad_rest
say *bad_list
say *bad_lease
say *bad_moment
say *bad_event
say *bad_command
say *bad_events
say *bad_pages
say *bad_table
say *bad_names
say *bad_elements
