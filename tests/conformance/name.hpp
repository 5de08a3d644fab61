#pragma once

// The suites of this folder are written once for each role and included by one small file for each model, which names it
// in ALLOT_MODEL: `#define ALLOT_MODEL allot::LinearPool`.
#define ALLOT_TEXT_OF(text) #text
#define ALLOT_TEXT(text) ALLOT_TEXT_OF(text)
#define ALLOT_CLAIM(claim) TEST_CASE(ALLOT_TEXT(ALLOT_MODEL) ": " claim)

/// Fails the test with what a law check found.
#define ALLOT_KEEPS(check)                                      \
    do {                                                        \
        const auto finding = check;                             \
        INFO(finding.value_or(std::string{"nothing was found"})); \
        CHECK(!finding);                                        \
    } while (false)
