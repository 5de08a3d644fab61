#pragma once

// There is one suite in this folder for each role. One small file for each model includes it and names the model in
// ALLOT_MODEL: `#define ALLOT_MODEL allot::LinearPool`.
#define ALLOT_TEXT_OF(text) #text
#define ALLOT_TEXT(text) ALLOT_TEXT_OF(text)
#define ALLOT_CLAIM(claim) TEST_CASE(ALLOT_TEXT(ALLOT_MODEL) ": " claim)

/// Fails the test with the finding of a law check.
#define ALLOT_KEEPS(check)                                                                                             \
    do {                                                                                                               \
        const auto finding = check;                                                                                    \
        INFO(finding.value_or(std::string{"nothing was found"}));                                                      \
        CHECK(!finding);                                                                                               \
    } while (false)
