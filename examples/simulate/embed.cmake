# Writes OUTPUT, a C++ file that defines NAMESPACE::embedded::NAME with the bytes of INPUT.
# As an array of numbers: a string literal of that length is beyond what compilers must take.
file(READ "${INPUT}" bytes HEX)
string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," numbers "${bytes}")
file(WRITE "${OUTPUT}" "#include \"embedded.hpp\"

namespace {

constexpr unsigned char bytes[] = {
${numbers}
};

}  // namespace

const std::string_view ${NAMESPACE}::embedded::${NAME}{reinterpret_cast<const char*>(bytes), sizeof bytes};
")
