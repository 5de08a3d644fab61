# keys.sh <examples folder>
#
# A member's key is looked up, and a signature checked, in one function of examples/jobs alone: `Keyring::refusal_of`, whose refusal is
# typed. Whatever the library is given there passes through it: no state machine hears a message without the ring's check.
set -eu
cd "$1"
[ -f jobs/keys.cpp ] || { echo "keys.sh: no jobs/keys.cpp in $1"; exit 1; }
faults=$(
    # Verified elsewhere, whatever the library of signatures is called.
    grep -rnE 'crypto_sign_(verify|open|ed25519)|_PKEY_verify|DigestVerify|ECDSA_verify|[eE]d25519_verify' --include='*.cpp' --include='*.hpp' . |
        grep -v '^\./jobs/keys\.cpp:' | sed 's|^\./||; s|$|: a signature is verified here; ask Keyring::refusal_of|' || true

    # In that file: once, and in that function.
    awk '
        /^auto .*::/ || /^void .*::/ { inside = index($0, "Keyring::refusal_of(") > 0 }
        /crypto_sign_(verify|open)/ || /keys_\.(find|at|contains|count)|keys_\[/ {
            uses++
            if (!inside) printf "jobs/keys.cpp:%d: only Keyring::refusal_of looks a key up or verifies\n", NR
        }
        END { if (uses != 2) print "jobs/keys.cpp: Keyring::refusal_of looks a key up once and verifies once, found " uses + 0 }' jobs/keys.cpp
    grep -nE 'keys_\.|keys_\[' jobs/*.hpp | sed 's|$|: only Keyring::refusal_of looks a key up|' || true
    grep -q 'return !refusal_of(' jobs/keys.hpp || echo "jobs/keys.hpp: check() does not ask refusal_of"

    # Bypassed: a call without the check, over all its lines.
    for file in jobs/*.cpp jobs/*.hpp; do
        grep -n 'TrustAuthors' "$file" | sed "s|^|$file:|; s|\$|: the check is bypassed|" || true
        tr '\n' ' ' < "$file" | grep -oE '(\.|->|[ (])(on_message|fault_of_message|fault_of_authors)\([^;]*' | grep -v 'ring_\.check()' |
            sed "s|^|$file: no ring_.check() in |" || true
    done
    for call in on_message fault_of_message; do
        grep -q "$call(" jobs/*.cpp || echo "keys.sh finds no call of $call"
    done
)
[ -z "$faults" ] || { echo "$faults"; exit 1; }
