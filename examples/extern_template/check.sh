# check.sh <object file of main.cpp>: fails if the dispatcher was instantiated in that file.
set -eu
command -v nm > /dev/null || { echo "no nm on this machine"; exit 77; }
symbols=$(nm -C "$1")
# The compiler may inline calls; but decisions and their execution must come from dispatcher.o.
if echo "$symbols" | grep -E '^[0-9a-f]+ [TtWVu] allot::v0::(Turn|Check|Dispatching|Starting|Finishing|Draws)<'; then
    echo "$1 contains the definitions above"
    exit 1
fi
echo "$symbols" | grep -q ' U .*Dispatcher<relay::ServiceFirst' || { echo "$1 does not refer to the dispatcher"; exit 1; }
