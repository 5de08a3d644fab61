# cmake -DFLAGS=<file> -DSOURCE=<file.cpp> -P compile_fail.cmake
# cmake -DFLAGS=<file> -DPRECOMPILE=<header> -DOUTPUT=<file> -P compile_fail.cmake
#
# Passes if the compiler refuses SOURCE and its first error matches the regular expression in SOURCE's first line:
#     // error: a weight policy needs weight
# An author of a policy reads one line; this keeps it clear.

# Fails with a text, without the line breaks that FATAL_ERROR inserts.
function(refuse text)
    message("${text}")
    message(FATAL_ERROR "not as it should be")
endfunction()

include("${FLAGS}")
# Naming a folder that the compiler searches anyway would change its search order.
if(includes)
    list(REMOVE_DUPLICATES includes)
    list(REMOVE_ITEM includes ${implicit})
    list(TRANSFORM includes PREPEND -I)
endif()

# With -DPRECOMPILE=<header> the header that most of them include is compiled in advance, once; only g++ finds it there.
if(PRECOMPILE)
    execute_process(COMMAND ${compiler} ${flags} ${includes} -w -x c++-header "${PRECOMPILE}" -o "${OUTPUT}"
        COMMAND_ERROR_IS_FATAL ANY)
    return()
endif()

file(STRINGS "${SOURCE}" first_line LIMIT_COUNT 1)
if(NOT first_line MATCHES "^// error: (.+)$")
    refuse("${SOURCE} has to begin with a line: // error: <regular expression>")
endif()
set(expected "${CMAKE_MATCH_1}")

execute_process(
    COMMAND ${CMAKE_COMMAND} -E env LC_ALL=C
        ${compiler} ${flags} ${precompiled} ${includes} -fdiagnostics-color=never -fsyntax-only "${SOURCE}"
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(status STREQUAL "0")
    refuse("${SOURCE} compiles, but has to be refused with: ${expected}")
endif()
string(REGEX MATCH "[^\n]*error:[^\n]*" error "${output}")
if(NOT error MATCHES "${expected}")
    refuse("${SOURCE}: the first error has to match\n  ${expected}\nbut is\n  ${error}\nin\n${output}")
endif()
message(STATUS "${error}")
