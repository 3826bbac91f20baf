// The bounds are counts of real tokenizers (byte-pair vocabularies of 100 k and 200 k entries, the higher of the two),
// measured once.
#include <gtest/gtest.h>

#include <string>

#include "context/context.hpp"

namespace tafel::context {
namespace {

std::string times(std::size_t count, std::string_view text) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += text;
  return all;
}

struct Sample {
  std::string text;
  std::size_t real_tokens;
};

TEST(Tokens, TheEstimateErrsUpwardForEveryScript) {  // a budget that divides characters by four does not hold
  const Sample samples[] = {
      {times(100, "你好世界"), 500},
      {times(20, "请问您想预订哪一间酒店？我想找一家评分在4.5分以上、价格在300到400元之间的酒店。"), 920},
      {times(20, "臺灣的繁體中文與簡體中文在用詞和寫法上都有許多不同，請問您想預訂哪一間飯店？"), 1180},
      {times(20, "東京の天気は明日晴れるでしょう。ご予約はこちらのフォームからお願いいたします。"), 840},
      {times(20, "안녕하세요. 호텔 예약을 확인하고 싶습니다. 조식이 포함되어 있나요?"), 640},
      {times(20, "Ｔｈｉｓ　ｉｓ　ｆｕｌｌ－ｗｉｄｔｈ　ｔｅｘｔ１２３"), 900},
      {times(20, "👨‍👩‍👧‍👦👩🏽‍💻🏳️‍🌈🇨🇳😀🎉"), 960},
      {times(20, "Здравствуйте! Я хотел бы забронировать номер в гостинице на следующую неделю."), 720},
      {times(20, "مرحبا! أود حجز غرفة في الفندق للأسبوع القادم. كم تبلغ التكلفة؟"), 940},
      {times(20, "שלום! אני רוצה להזמין חדר במלון לשבוע הבא. כמה זה עולה?"), 1020},
      {times(20, "Καλημέρα! Θα ήθελα να κλείσω ένα δωμάτιο στο ξενοδοχείο."), 1060},
      {times(20, "नमस्ते! मैं अगले सप्ताह के लिए होटल में एक कमरा बुक करना चाहता हूँ।"), 1300},
      {times(20, "สวัสดีครับ ผมต้องการจองห้องพักในโรงแรมสำหรับสัปดาห์หน้า"), 980},
      {times(20, "გამარჯობა! მინდა დავჯავშნო ოთახი სასტუმროში."), 1620},
      {times(20, "ሰላም! ለሚቀጥለው ሳምንት በሆቴሉ ውስጥ ክፍል ማስያዝ እፈልጋለሁ።"), 2060},
      {times(20, "Xin chào! Tôi muốn đặt một phòng khách sạn cho tuần tới."), 561},
      {times(20, "Příliš žluťoučký kůň. Zażółć gęślą jaźń. Ich möchte nächste Woche ein Zimmer."), 741},
      {times(20, "The quick brown fox jumps over the lazy dog; it costs $1,234.56 at 10:30 on 2026-01-17."), 621},
      {times(20, "wo xiang yuding yi jian jiudian fangjian xiage xingqi "), 381},
      {times(20, "if (const auto* list = value.get_if<List>()) return list->empty() ? 0 : -1;\n    "), 520},
      {times(20,
             "{\"path\":\"budget.max\",\"value\":15000,\"confidence\":\"stated\",\"by\":\"planner\",\"version\":12}\n"),
       500},
      {times(1,
             "OLTmUuRNp/"
             "I3DZ4mDicTZVCko6bQf1wMMy+LEiQIP9IrkC+JEegYGPjJnV1dmDGVdQTZDpRd4uj1TueBzHX2NthQmQlaowAWWmcDb5tUDWuPC+"
             "IRJBecPdn3OBfObhGNJkqtbLbdIQ+vlKzTz5LBkCN8sR9dEIzyWTAmOTizcKG1dp+g8Ug/lakNnfLxMNYPzwS9k/"
             "UK5pUU2oxlnOKxDMza6/"
             "mQ0Zg4sNfsCz6XgY7LlsTbrb4XIpbVI0pCskxrpObtJOxjaorAoSceWGYnkjiq+E5YBW2PL6jt0JS6l66LFUQu4tthGpG/"
             "45RpczqSR9WPo8VQGDADclVf0jXxGCn7OIwi5Ey2N/ASEMNwepC0BUIPsWl3nt+1uTQkBRV/VLEurmLRHoh+sHZt"),
       280},
      {times(1,
             "1877f8c6eff26b5010af3177d161e79587a766ec30e4037458a9905cad87bd4c77e2983f27745ccb9a31052e944cf1b220eaa2c7f"
             "b1b7d3e3f73f414af6e0d935520dd4c2147738606f2bf7ec70209e0cd05ee5720edbcba3acce672084ab649fcbce49b38bdecface"
             "4abd12108f391ebc070e83e8180a6bd4f43a2afffcd3c12ef890575575e826e2cbeaee82af2c7d696cf46b090a"),
       169},
      {times(20, "01JD7Q3R8XK2M5N9PZTVWY4ABC f47ac10b-58cc-4372-a567-0e02b2c3d479 "), 900},
      {times(20, "∀x∈ℝ: ∃y ≥ x² ∧ ∫₀¹ f(t)dt ≠ ∑ₙ αₙ → ∞"), 720},
  };
  for (const Sample& sample : samples) {
    EXPECT_GE(estimate_tokens(sample.text), sample.real_tokens) << sample.text.substr(0, 60);
    EXPECT_LE(estimate_tokens(sample.text), sample.text.size()) << "no tokenizer needs more than the bytes";
  }
}

TEST(Tokens, NothingCostsNothing) { EXPECT_EQ(estimate_tokens(""), 0U); }

TEST(Tokens, EveryWideCharacterCostsAtLeastOne) {
  EXPECT_GE(estimate_tokens(times(100, "你好世界")), 400U);
  EXPECT_GE(estimate_tokens(times(100, "ｆｕｌｌ")), 400U);
  EXPECT_GE(estimate_tokens(times(100, "한국어")), 300U);
  EXPECT_GE(estimate_tokens(times(10, "👨‍👩‍👧‍👦")), 10U * 11U);
}

TEST(Tokens, PlainEnglishStaysBelowOneTokenForTwoCharacters) {
  const std::string text =
      times(20, "The traveller would like to book a quiet room near the station for three nights. ");
  EXPECT_LT(estimate_tokens(text), text.size() / 2);
}

TEST(Tokens, TextThatIsNoUtf8IsCountedByByte) {
  EXPECT_EQ(estimate_tokens("\xFF\x80\xC3"), 3U);
  EXPECT_EQ(estimate_tokens("\xE4\xBD"), 2U);
}

TEST(Tokens, LongRunsAreCountedInLinearTime) {
  EXPECT_GT(estimate_tokens(times(200'000, "aB")), 100'000U);
  EXPECT_GT(estimate_tokens(times(400'000, " ")), 40'000U);
}

}  // namespace
}  // namespace tafel::context
