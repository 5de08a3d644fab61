#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include <allot/core/siphash.hpp>

#include "support/catch.hpp"
#include "support/seed.hpp"

namespace {

using allot::SipHash13;
using allot::SipHash24;
using allot::SipHash24Wide;
using allot::SipKey;

// Key 00 01 .. 0F; the message of vector n is the bytes 00 01 .. n-1. Those of SipHash-2-4 are the official ones; all
// were made by another implementation:
//     openssl mac -macopt hexkey:000102030405060708090A0B0C0D0E0F -macopt size:8 -macopt c-rounds:2 -macopt d-rounds:4
//         -in message SIPHASH
// with size:16 for 128 bits (the lower word first here), and c-rounds:1 d-rounds:3.
constexpr auto key = SipKey{0x0706'0504'0302'0100U, 0x0F0E'0D0C'0B0A'0908U};

constexpr auto vectors_2_4 = std::array<std::uint64_t, 64>{
    0x726F'DB47'DD0E'0E31U, 0x74F8'39C5'93DC'67FDU, 0x0D6C'8009'D9A9'4F5AU, 0x8567'6696'D7FB'7E2DU,
    0xCF27'94E0'2771'87B7U, 0x1876'5564'CD99'A68DU, 0xCBC9'466E'58FE'E3CEU, 0xAB02'00F5'8B01'D137U,
    0x93F5'F579'9A93'2462U, 0x9E00'82DF'0BA9'E4B0U, 0x7A5D'BBC5'94DD'B9F3U, 0xF4B3'2F46'226B'ADA7U,
    0x751E'8FBC'860E'E5FBU, 0x14EA'5627'C084'3D90U, 0xF723'CA90'8E7A'F2EEU, 0xA129'CA61'49BE'45E5U,
    0x3F2A'CC7F'57C2'9BDBU, 0x699A'E9F5'2CBE'4794U, 0x4BC1'B3F0'968D'D39CU, 0xBB6D'C91D'A779'61BDU,
    0xBED6'5CF2'1AA2'EE98U, 0xD0F2'CBB0'2E3B'67C7U, 0x9353'6795'E3A3'3E88U, 0xA80C'038C'CD5C'CEC8U,
    0xB8AD'50C6'F649'AF94U, 0xBCE1'92DE'8A85'B8EAU, 0x17D8'35B8'5BBB'15F3U, 0x2F2E'6163'076B'CFADU,
    0xDE4D'AAAC'A71D'C9A5U, 0xA6A2'5066'8795'6571U, 0xAD87'A353'5C49'EF28U, 0x32D8'92FA'D841'C342U,
    0x7127'512F'72F2'7CCEU, 0xA7F3'2346'F959'78E3U, 0x12E0'B01A'BB05'1238U, 0x15E0'34D4'0FA1'97AEU,
    0x314D'FFBE'0815'A3B4U, 0x0279'90F0'2962'3981U, 0xCADC'D4E5'9EF4'0C4DU, 0x9ABF'D876'6A33'735CU,
    0x0E3E'A96B'5304'A7D0U, 0xAD0C'42D6'FC58'5992U, 0x1873'06C8'9BC2'15A9U, 0xD4A6'0ABC'F379'2B95U,
    0xF935'451D'E4F2'1DF2U, 0xA953'8F04'1975'5787U, 0xDB9A'CDDF'F56C'A510U, 0xD06C'98CD'5C09'75EBU,
    0xE612'A3CB'9ECB'A951U, 0xC766'E62C'FCAD'AF96U, 0xEE64'435A'9752'FE72U, 0xA192'D576'B245'165AU,
    0x0A87'87BF'8ECB'74B2U, 0x81B3'E73D'20B4'9B6FU, 0x7FA8'220B'A3B2'ECEAU, 0x2457'31C1'3CA4'2499U,
    0xB78D'BFAF'3A8D'83BDU, 0xEA1A'D565'322A'1A0BU, 0x60E6'1C23'A379'5013U, 0x6606'D7E4'4628'2B93U,
    0x6CA4'ECB1'5C5F'91E1U, 0x9F62'6DA1'5C96'25F3U, 0xE51B'3860'8EF2'5F57U, 0x958A'324C'EB06'4572U,
};
constexpr auto vectors_1_3 = std::array<std::uint64_t, 64>{
    0xABAC'0158'050F'C4DCU, 0xC9F4'9BF3'7D57'CA93U, 0x82CB'9B02'4DC7'D44DU, 0x8BF8'0AB8'E7DD'F7FBU,
    0xCF75'5760'88D3'8328U, 0xDEF9'D52F'4953'3B67U, 0xC50D'2B50'C59F'22A7U, 0xD392'7D98'9BB1'1140U,
    0x3690'9511'8D29'9A8EU, 0x25A4'8EB3'6C06'3DE4U, 0x79DE'85EE'92FF'097FU, 0x70C1'18C1'F94D'C352U,
    0x78A3'84B1'57B4'D9A2U, 0x306F'760C'1229'FFA7U, 0x605A'A111'C0F9'5D34U, 0xD320'D86D'2A51'9956U,
    0xCC4F'DD1A'7D90'8B66U, 0x9CF2'6890'63DB'D80CU, 0x8FFC'389C'B473'E63EU, 0xF21F'9DE5'8D29'7D1CU,
    0xC0DC'2F46'A6CC'E040U, 0xB992'ABFE'2B45'F844U, 0x7FFE'7B9B'A320'872EU, 0x525A'0E7F'DAE6'C123U,
    0xF464'AEB2'6734'9C8CU, 0x45CD'5928'705B'0979U, 0x3A3E'35E3'CA99'13A5U, 0xA91D'C74E'4ADE'3B35U,
    0xFB0B'ED02'EF6C'D00DU, 0x88D9'3CB4'4AB1'E1F4U, 0x540F'11D6'43C5'E663U, 0x2370'DD1F'8C21'D1BCU,
    0x8115'7B6C'16A7'B60DU, 0x4D54'B9E5'7A8F'F9BFU, 0x759F'1278'1F2A'753EU, 0xCEA1'A3BE'BF18'6B91U,
    0x2CF5'08D3'ADA2'6206U, 0xB610'1C2D'A3C3'3057U, 0xB3F4'7496'AE3A'36A1U, 0x626B'5754'7B10'8392U,
    0xC1D2'3632'99E4'1531U, 0x667C'C192'3F1A'D944U, 0x6570'4FFE'C813'8825U, 0x24F2'80D1'C289'49A6U,
    0xC2CA'1CED'FAF8'876BU, 0xC216'4BFC'9F04'2196U, 0xA16E'9C93'68B1'D623U, 0x49FB'169C'8B51'14FDU,
    0x9F31'43F8'DF07'4C46U, 0xC6FD'AF24'12CC'86B3U, 0x7EAF'49D1'0A52'098FU, 0x1CF3'1355'9D29'2F9AU,
    0xC44A'30DD'A2F4'1F12U, 0x36FA'E989'43A7'1ED0U, 0x318F'B34C'73F0'BCE6U, 0xA27A'BF36'70A7'E980U,
    0xB4BC'C0DB'243C'6D75U, 0x23F8'D852'FDB7'1513U, 0x8F03'5F4D'A67D'8A08U, 0xD89C'D0E5'B7E8'F148U,
    0xF6F4'E6BC'F7A6'44EEU, 0xAEC5'9AD8'0F18'37F2U, 0xC3B2'F615'4B66'94E0U, 0x9D19'9062'B7BB'B3A8U,
};
constexpr auto vectors_2_4_wide = std::array<std::array<std::uint64_t, 2>, 64>{{
    {0xE6A8'25BA'047F'81A3U, 0x9302'55C7'1472'F66DU}, {0x44AF'996B'D8C1'87DAU, 0x45FC'229B'1159'7634U},
    {0xC75D'A4A4'8D22'7781U, 0xE4FF'0AF6'DE8B'A3FCU}, {0x4EA9'6752'0CB6'709CU, 0x51ED'8529'B0B6'335FU},
    {0xAF8F'9C2D'C164'81F8U, 0x7955'CD7B'7C6E'0F7DU}, {0x886F'7780'5987'6813U, 0x2796'0E69'077A'5254U},
    {0x1386'208B'33CA'EE14U, 0x5EA1'D78F'30A0'5E48U}, {0x53C1'DBD8'BEEB'F1A1U, 0x3982'F01F'A64A'B8C0U},
    {0x61F5'5862'BAA9'623BU, 0xB497'14F3'64E2'830FU}, {0xABBA'D90A'0699'4426U, 0xED71'6DBB'028B'7FC4U},
    {0x5669'1478'C30D'1100U, 0xBAFB'D0F3'D347'54C9U}, {0x7766'6B38'68C5'5101U, 0x18DC'E581'6FDC'B4A2U},
    {0x58F3'5E90'66B2'26D6U, 0x25C1'3285'F64D'6382U}, {0x108B'C0E9'47E2'6998U, 0xF752'B9C4'4F93'29D0U},
    {0x9CDE'D766'ACEF'FC31U, 0x0249'49E4'5F48'C77EU}, {0x11A8'B033'99E9'9354U, 0xD9C3'CF97'0FEC'087EU},
    {0xBB54'B067'CAA4'E26EU, 0x7705'2385'BF15'33FDU}, {0x98B8'8D73'E806'3D47U, 0x4077'E47A'C466'C054U},
    {0x8548'BF23'E4E5'26A4U, 0x23F7'AEFE'81A4'4D29U}, {0xB0FA'65CF'3177'0178U, 0xB12E'5152'8920'D574U},
    {0x7390'223F'83FC'259EU, 0xEB39'38E8'A544'933EU}, {0x215A'52BE'5A49'8E56U, 0x121D'073E'CD14'228AU},
    {0x9A6B'D152'45B5'294AU, 0xAE0A'FF8E'5210'9C46U}, {0xE0F5'A9D5'DD84'D1C9U, 0x1C69'BF9A'9AE2'8CCFU},
    {0xD850'BD78'AE79'B42DU, 0xAD32'618A'178A'2A88U}, {0x7B44'5E2D'045F'CE8EU, 0x6F8F'8DCB'EAB9'5150U},
    {0xE807'C3B3'B453'0B9CU, 0x661F'1478'86E0'AE7EU}, {0xE4EA'A669'AF48'F2ABU, 0x94EB'9E12'2FEB'D3BFU},
    {0x884B'5768'16DA'6406U, 0xF4AE'5873'02F3'35B9U}, {0xE97D'33BF'C49D'4BAAU, 0xB76A'7C46'3CFD'D40CU},
    {0xDE6B'AF1F'477F'5CEAU, 0x8722'6D68'D4D7'1A2BU}, {0xFCFA'2332'18B0'3929U, 0x353D'C452'4FDE'2317U},
    {0x3EFC'EA5E'CA56'397CU, 0x68EB'4665'559D'3E36U}, {0x321C'F046'7107'C677U, 0xCFFF'A94E'5F9D'B6B6U},
    {0xDF7E'84B8'6C98'A637U, 0xDE54'9B30'F1F0'2509U}, {0xF9A8'A99D'E6F0'05A7U, 0xC88C'3C92'2E1A'2407U},
    {0x4648'C429'1F7D'C43DU, 0x1167'4F90'ED76'9E1EU}, {0x1A0E'FCE6'01BF'620DU, 0x2B69'D3C5'5147'3C0DU},
    {0x9E66'7CCA'8B46'038CU, 0xB5E7'BE4B'085E'FDE4U}, {0x9C2C'AF3B'B95B'8A52U, 0xD92B'D2D0'E5CC'7344U},
    {0xAD5D'C995'1E30'6ADFU, 0xD83B'91C6'C80C'AE97U}, {0x397F'852C'9089'1180U, 0xDBB6'705E'2891'35E7U},
    {0xBB31'C2C9'6A34'17E6U, 0x5B0C'CACC'34AE'5036U}, {0xAA21'B7EF'3734'D927U, 0x89DF'5AEC'DC21'1840U},
    {0x785E'9CED'9D7D'2389U, 0x4273'CC66'B1C9'B1D8U}, {0x657D'5EBF'9180'6D4AU, 0x4CB1'50A2'94FA'8911U},
    {0x89AE'E755'60F9'330EU, 0x0229'49CF'3D0E'FC3FU}, {0xD119'0B72'2B43'1CE6U, 0x1B15'63DC'4BD8'C88EU},
    {0xCF82'F749'F5AE'E5F7U, 0x169B'2608'A655'9037U}, {0x4FA5'B7D0'0F03'8D43U, 0x0364'1A20'ADF2'37A8U},
    {0xE304'BF4F'EED3'90A5U, 0x3F42'86F2'270D'7E24U}, {0xC493'FE72'A1C1'E25FU, 0x38F5'F9AE'7CD3'5CB1U},
    {0x6EB3'06BD'5C32'972CU, 0x7C01'3A8B'D03D'13B2U}, {0x94CA'6B7A'2214'C892U, 0x9ED3'2A00'9F65'F09FU},
    {0x8C32'D80B'1150'E8DCU, 0x871D'91D6'4108'D5FBU}, {0x1279'DAC7'8449'F167U, 0xDA83'2592'B52B'E348U},
    {0xE94E'D572'CFF2'3819U, 0x362A'1DA9'6F16'947EU}, {0xFE49'ED46'961E'4874U, 0x8E69'0416'3024'620FU},
    {0xD8D6'A998'DEA5'FC57U, 0x1D8A'3D58'D038'6400U}, {0xBE1C'DCEF'1CDE'EC9FU, 0x5953'57D9'7436'76D4U},
    {0x53F1'28EB'000C'04E3U, 0x40E7'72D8'CB73'CA66U}, {0xFE1D'836A'9A00'9776U, 0x7A0F'6793'591C'A9CCU},
    {0xA067'F521'2354'5358U, 0xBD59'47F0'A447'D505U}, {0x4A83'502F'77D1'5051U, 0x7CBD'3F97'9A06'3E50U},
}};

auto message(std::size_t length) -> std::vector<std::uint8_t> {
    auto bytes = std::vector<std::uint8_t>(length);
    for (std::size_t i = 0; i < length; ++i) { bytes[i] = static_cast<std::uint8_t>(i); }
    return bytes;
}

static_assert(SipHash24{key}.finish() == vectors_2_4[0]);
static_assert(SipHash24{key}.word(0x0706'0504'0302'0100U).finish() == vectors_2_4[8]);

}  // namespace

TEST_CASE("SipHash gives the reference vectors") {
    for (std::size_t length = 0; length < 64; ++length) {
        const auto bytes = message(length);
        CAPTURE(length);
        CHECK(SipHash24{key}.bytes(bytes).finish() == vectors_2_4[length]);
        CHECK(SipHash13{key}.bytes(bytes).finish() == vectors_1_3[length]);
        const auto wide = SipHash24Wide{key}.bytes(bytes).finish128();
        CHECK(wide.low() == vectors_2_4_wide[length][0]);
        CHECK(wide.high() == vectors_2_4_wide[length][1]);
        CHECK(SipHash24{key}.bytes(std::as_bytes(std::span{bytes})).finish() == vectors_2_4[length]);
    }
}

TEST_CASE("a message hashes alike however it is cut into words and bytes") {
    auto random = std::mt19937_64{allot_test::seed()};
    for (auto i = 0; i < 5'000; ++i) {
        auto bytes = std::vector<std::uint8_t>(random() % 600U);
        for (auto& byte : bytes) { byte = static_cast<std::uint8_t>(random()); }
        auto pieces = SipHash13{key};
        for (std::size_t at = 0; at < bytes.size();) {
            if (bytes.size() - at >= 8 && random() % 2U == 0) {
                auto word = std::uint64_t{0};
                for (auto k = 0U; k < 8; ++k) { word |= std::uint64_t{bytes[at + k]} << (8U * k); }
                pieces.word(word);
                at += 8;
            } else {
                const auto length = std::min<std::size_t>(random() % 20U, bytes.size() - at);
                pieces.bytes(std::span{bytes}.subspan(at, length));
                at += length;
            }
        }
        REQUIRE(pieces.finish() == SipHash13{key}.bytes(bytes).finish());
    }
}

TEST_CASE("words in a row hash as one by one, and as their bytes") {
    const auto words =
        std::array<std::uint64_t, 3>{0x0706'0504'0302'0100U, 0x0F0E'0D0C'0B0A'0908U, 0xFFEE'DDCC'BBAA'9988U};
    auto bytes = std::array<std::uint8_t, 24>{};
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = static_cast<std::uint8_t>((words[i / 8] >> (8U * (i % 8U))) & 0xFFU);
    }
    const auto expected = SipHash13{key}.word(words[0]).word(words[1]).word(words[2]).finish();
    CHECK(SipHash13{key}.words(words).finish() == expected);
    CHECK(SipHash13{key}.bytes(std::span<const std::uint8_t>{bytes}).finish() == expected);
    CHECK(SipHash13{key}.word(words[0]).words(std::array{words[1], words[2]}).finish() == expected);
}

TEST_CASE("a copy of a hasher is read while the hasher is fed on") {
    auto hasher = SipHash24{key};
    for (std::size_t length = 0; length < 64; ++length) {
        CHECK(SipHash24{hasher}.finish() == vectors_2_4[length]);
        hasher.bytes(std::array{static_cast<std::uint8_t>(length)});
    }
}

TEST_CASE("both words of the key matter") {
    CHECK(SipHash13{SipKey{1, 0}}.finish() != SipHash13{SipKey{0, 0}}.finish());
    CHECK(SipHash13{SipKey{0, 1}}.finish() != SipHash13{SipKey{0, 0}}.finish());
    CHECK(SipHash13{SipKey{0, 1}}.finish() != SipHash13{SipKey{1, 0}}.finish());
}
