"""Sentences in Japanese and Chinese of four kinds, put together from patterns and lists of words. The sentences are our own."""

import random
import re

KINDS = ("news", "dialogue", "numbers", "names")

JAPANESE = {
    "news": """
{ORG}は{DAY}、{TOPIC}について{ACT}と発表した。
{ORG}によると、{PLACE}で{EVENT}が起き、{PEOPLE}が{HARM}。
{PLACE}では{SEASON}、{EVENT}への備えが進んでいる。
{TOPIC}をめぐり、{ORG}と{ORG}の意見が対立している。
専門家は「{TOPIC}の影響は今後も続く」と指摘する。
{DAY}の{PLACE}は{WEATHER}、気温も{TEMP}。
{ORG}の調査で、{TOPIC}に不安を感じる{PEOPLE}が増えていることが分かった。
{PLACE}を訪れた{PEOPLE}は、{TOPIC}の現場を視察した。
{ORG}は{TOPIC}の見直しを求める意見書をまとめた。
{EVENT}の影響で、{PLACE}の交通機関に大きな乱れが出ている。
""",
    "dialogue": """
{HELLO}、{PERSON}さん。{ASK}
すみません、{SPOT}はどこですか。
{SPOT}なら、あの{LANDMARK}の隣にありますよ。
{THING}を{USE}のを忘れないでください。
昨日{PERSON}さんと一緒に{SPOT}へ行きました。
「{THING}はもう{DONE}？」「いいえ、まだです。」
私は{FOOD}が好きですが、{FOOD}はあまり好きではありません。
{WHEN}、{SPOT}で{FOOD}を食べませんか。
そんなに{FEEL}なら、少し休んだほうがいいよ。
どうして{FEEL}のか、私にも分からない。
もし{WEATHER_IF}、{SPOT}へは行かないつもりです。
{PERSON}先生は{WHEN}、{THING}について話してくださった。
""",
    "numbers": """
{THING}を{N}{COUNTER}買いました。
会議は{HOUR}時{MINUTE}分に始まります。
{YEAR}年{MONTH}月{DATE}日に{PLACE}で生まれました。
この{THING}は{PRICE}円です。
参加者は全部で{N}人でした。
売上は前の年より{N}パーセント増えた。
{SPOT}は{FLOOR}階にあります。
{N}歳のときに{PLACE}へ引っ越した。
{SPOT}まで歩いて{N}分かかる。
{N}か月で{N}回も{PLACE}へ行った。
人口はおよそ{N}万人です。
長さは{N}メートル、重さは{N}キロです。
""",
    "names": """
{FULL}さんは{PLACE}出身の{JOB}です。
{PLACE}駅から{PLACE}駅まで電車で行きます。
{JOB}の{FULL}氏が{PLACE}で講演した。
{FULL}と申します。よろしくお願いいたします。
{COMPANY}の新しい社長に{FULL}氏が選ばれた。
{COUNTRY}の首都を訪れた{JOB}の{FULL}さん。
{PLACE}県と{PLACE}県の境に、高い山がある。
{COUNTRY}から来た友だちと{PLACE}を観光した。
{PERSON}くんと{PERSON}ちゃんは、{COMPANY}で働いている。
{FULL}の小説は{COUNTRY}でも人気がある。
""",
}

JAPANESE_WORDS = {
    "ORG": "政府 警察 気象庁 外務省 文部科学省 日本銀行 市役所 消防署 国会 裁判所 教育委員会 新聞社 大学 研究チーム 組合 航空会社 電力会社 自動車メーカー",
    "DAY": "昨日 今日 月曜日 火曜日 水曜日 木曜日 金曜日 土曜日 日曜日 今朝 昨夜 先週",
    "TOPIC": "経済政策 少子化 物価の上昇 消費税 環境問題 医療制度 外交関係 人工知能 新型車両 安全保障 地域の活性化 働き方改革 食料の輸入 円安 教育費 個人情報 再生可能エネルギー 台風の被害 空き家 選挙制度",
    "ACT": "対策を強化する 調査を始める 会談を行う 予算を増やす 計画を延期する 法律を改正する 支援を続ける 方針を変更する",
    "PLACE": "東京 大阪 京都 北海道 福岡 名古屋 札幌 仙台 広島 神戸 横浜 長野 静岡 新潟 岡山 熊本 鹿児島 沖縄 奈良 千葉 埼玉 青森 秋田 石川 高知",
    "EVENT": "地震 火事 事故 大雨 洪水 停電 土砂崩れ 大雪 爆発 台風",
    "PEOPLE": "住民 観光客 学生 会社員 高齢者 子どもたち 労働者 市民 外国人 選手",
    "HARM": "けがをした 避難した 救助された 病院に運ばれた 一時孤立した",
    "SEASON": "春 夏 秋 冬 毎年 最近 今年の夏",
    "WEATHER": "晴れて 曇りで 雨が降り 雪が降り 風が強く",
    "TEMP": "低かった 高くなった 下がった 上がった",
    "HELLO": "おはようございます こんにちは こんばんは お久しぶりです もしもし はじめまして",
    "ASK": "お元気ですか。 お仕事はいかがですか。 今、お時間はありますか。 何をしているんですか。 どちらへ行かれますか。",
    "PERSON": "田中 鈴木 佐藤 高橋 伊藤 渡辺 山本 中村 小林 加藤 吉田 山田 佐々木 山口 松本 井上 木村 林 清水 斎藤",
    "SPOT": "駅 病院 図書館 郵便局 銀行 学校 公園 美術館 空港 市場 喫茶店 食堂 本屋 映画館 交番 大使館 温泉 海岸 神社 教会",
    "LANDMARK": "高い建物 白い家 大きな木 橋 信号 交差点",
    "THING": "宿題 手紙 資料 傘 切符 荷物 写真 辞書 自転車 鉛筆 薬 財布 鍵 雑誌 新聞 帽子 時計 電話 靴 眼鏡",
    "USE": "持ってくる 送る 返す 確認する 片付ける 渡す 見せる 探す",
    "DONE": "終わりましたか 届きましたか 見つかりましたか 買いましたか",
    "FOOD": "寿司 天ぷら 味噌汁 魚 野菜 果物 卵 牛肉 豆腐 お茶 紅茶 牛乳 納豆 りんご 焼き鳥 うどん カレー ラーメン",
    "WHEN": "明日 今晩 来週 週末 あさって 来月 午後 放課後",
    "FEEL": "疲れている 眠い 悲しい 忙しい 寒い 心配な 大変な",
    "WEATHER_IF": "雨が降ったら 雪が降れば 風が強かったら 時間がなければ",
    "N": "1 2 3 4 5 6 7 8 9 10 12 15 20 24 30 36 48 50 75 100",
    "COUNTER": "本 枚 個 冊 台 つ",
    "HOUR": "1 2 3 4 5 6 7 8 9 10 11 12",
    "MINUTE": "5 10 15 20 25 30 40 45 50",
    "YEAR": "1868 1945 1964 1989 1995 2001 2011 2020 2024 2026",
    "MONTH": "1 2 3 4 5 6 7 8 9 10 11 12",
    "DATE": "1 2 3 4 5 6 7 8 9 10 11 14 15 20 24 28 31",
    "PRICE": "100 250 380 500 640 980 1200 3000 4500 8800 12000 36000 150000",
    "FLOOR": "1 2 3 4 5 6 7 8 9 10",
    "FULL": "山田太郎 鈴木一郎 佐藤花子 高橋健一 田中美咲 伊藤博文 夏目漱石 川端康成 与謝野晶子 徳川家康 織田信長 豊臣秀吉 坂本龍馬 宮沢賢治 樋口一葉 村上春樹 黒澤明 宮崎駿 小林直樹 中村由美子",
    "JOB": "医者 弁護士 教師 作家 画家 俳優 歌手 記者 看護師 写真家 建築家 政治家 科学者 料理人",
    "COMPANY": "三菱電機 東芝 日立製作所 任天堂 資生堂 朝日新聞 読売新聞 住友商事 日産自動車 富士通",
    "COUNTRY": "アメリカ 中国 韓国 フランス ドイツ イタリア イギリス ブラジル インド タイ ベトナム カナダ オーストラリア 台湾 ロシア",
}

CHINESE = {
    "news": """
{ORG}{DAY}宣布，将{ACT}。
据{ORG}介绍，{PLACE}{DAY}发生{EVENT}，{HARM}。
{PLACE}今年的{TOPIC}取得了明显的进展。
{ORG}负责人表示，{TOPIC}仍然面临很大的压力。
专家认为，{TOPIC}会影响{PEOPLE}的生活。
{DAY}，{PLACE}{WEATHER}，气温有所{TEMP}。
{ORG}呼吁{PEOPLE}注意{EVENT}带来的危险。
关于{TOPIC}的会议{DAY}在{PLACE}举行。
受{EVENT}影响，{PLACE}的部分列车停运。
记者在{PLACE}了解到，{PEOPLE}都很关心{TOPIC}。
""",
    "dialogue": """
{HELLO}，{PERSON}，{ASK}
请问，{SPOT}在哪里？
{SPOT}就在那座{LANDMARK}旁边。
别忘了把{THING}{USE}。
昨天我和{PERSON}一起去了{SPOT}。
你觉得这家{SPOT}的{FOOD}好吃吗？
我很喜欢{FOOD}，可是不太喜欢{FOOD}。
{WHEN}我们去{SPOT}好不好？
你怎么这么{FEEL}？是不是没睡好？
如果{WEATHER_IF}，我就不去{SPOT}了。
我的{THING}不见了，你看见了吗？
{PERSON}正在{SPOT}里等你呢。
""",
    "numbers": """
我买了{N}{COUNTER}。
会议{HOUR}点{MINUTE}分开始。
他{YEAR}年{MONTH}月{DATE}日出生在{PLACE}。
这个{THING}要{PRICE}元。
参加的人一共有{N}位。
销售额比去年增长了{N}%。
{SPOT}在{FLOOR}楼。
他{N}岁的时候搬到了{PLACE}。
从这里走到{SPOT}要{N}分钟。
这条路长{N}公里，重量是{DECIMAL}吨。
{PLACE}的人口大约是{BIG}。
今天最高气温{N}℃，湿度{N}%。
""",
    "names": """
{FULL}是{PLACE}有名的{JOB}。
{COUNTRY}{JOB}{FULL}访问了{PLACE}。
从{PLACE}到{PLACE}可以坐高铁。
我叫{FULL}，请多多关照。
{COMPANY}的总经理{FULL}介绍了公司的情况。
{FULL}和{FULL}是大学同学。
{PLACE}位于{COUNTRY}的东部吗？
{FULL}的小说在{COUNTRY}很受欢迎。
《{BOOK}》是{FULL}最喜欢的书。
{PERSON}在{COMPANY}工作了很多年。
""",
}

CHINESE_WORDS = {
    "ORG": "外交部 教育部 公安局 气象台 中国银行 市政府 消防队 法院 研究所 大学 电视台 铁路局 航空公司 商务部 环保部门 卫生部门",
    "DAY": "昨天 今天 星期一 星期二 星期三 星期四 星期五 星期六 星期天 今早 上周 本月初",
    "ACT": "加强安全管理 推动经济发展 扩大对外开放 提高工资水平 降低税收 调整交通路线 公布调查结果 增加教育投入 建设新的医院 重新制定计划",
    "PLACE": "北京 上海 广州 深圳 成都 重庆 西安 武汉 南京 杭州 苏州 天津 青岛 大连 厦门 昆明 长沙 哈尔滨 沈阳 济南 郑州 兰州 贵阳 南宁 海口",
    "EVENT": "地震 火灾 交通事故 暴雨 洪水 停电 大雪 台风 爆炸 沙尘暴",
    "HARM": "没有人员受伤 多人被送往医院 居民已经安全转移 救援工作正在进行 损失情况正在调查",
    "TOPIC": "经济改革 环境保护 医疗保险 人工智能 房地产市场 农村教育 对外贸易 食品安全 新能源汽车 养老服务 城市交通 科学研究 旅游业 就业问题 文化交流",
    "PEOPLE": "居民 学生 老人 工人 农民 游客 市民 消费者 家长 司机",
    "WEATHER": "天气晴朗 多云转阴 有小雨 下大雪 风力较大",
    "TEMP": "下降 上升 回升",
    "HELLO": "你好 早上好 晚上好 好久不见 喂 您好",
    "ASK": "最近怎么样？ 你吃饭了吗？ 工作忙不忙？ 你要去哪儿？ 现在有时间吗？ 身体还好吗？",
    "PERSON": "小王 老李 张老师 刘经理 陈医生 小赵 周先生 吴小姐 林女士 杨教授",
    "SPOT": "火车站 医院 图书馆 邮局 银行 学校 公园 博物馆 机场 菜市场 咖啡店 饭馆 书店 电影院 派出所 大使馆 超市 体育馆",
    "LANDMARK": "高楼 白房子 大桥 电视塔 教堂",
    "THING": "作业 手机 雨伞 车票 行李 照片 词典 自行车 铅笔 钱包 钥匙 杂志 报纸 帽子 手表 眼镜 杯子 电脑",
    "USE": "带来 寄出去 还给我 放在桌子上 收好 拿走",
    "FOOD": "饺子 面条 米饭 牛肉 鸡蛋 豆腐 水果 苹果 绿茶 牛奶 包子 火锅 烤鸭 蔬菜 海鲜 葡萄",
    "WHEN": "明天 今晚 下周 周末 后天 下个月 下午 放学以后",
    "FEEL": "累 高兴 着急 难过 紧张 困",
    "WEATHER_IF": "下雨 下雪 刮大风 没有时间 太晚",
    "N": "1 2 3 4 5 6 7 8 9 10 12 15 18 20 24 30 36 48 50 75 88 99",
    "COUNTER": "本书 张纸 个苹果 辆汽车 件衣服 瓶水 只猫 把椅子",
    "HOUR": "1 3 4 5 6 7 8 9 10 11 12",
    "MINUTE": "10 15 20 25 30 40 45 50",
    "YEAR": "1911 1949 1978 1984 1997 2001 2008 2012 2020 2024 2026",
    "MONTH": "1 2 3 4 5 6 7 8 9 10 11 12",
    "DATE": "1 2 3 5 8 10 12 15 18 20 22 25 28 30",
    "PRICE": "15 39 88 120 199 350 460 500 680 999 1300 4500 8800 36000",
    "FLOOR": "3 4 5 6 7 8 9 10 12",
    "DECIMAL": "1.5 2.5 3.14 0.5 6.8 12.75",
    "BIG": "三百万 五千万 一千四百万 两千三百万 八十万",
    "FULL": "王建国 李小龙 张伟 刘德华 陈静 杨丽 赵敏 黄海波 周杰伦 吴京 徐志摩 孙中山 马云 朱自清 胡适 郭沫若 何平 高晓松 林黛玉 罗贯中",
    "JOB": "医生 律师 教师 作家 画家 演员 歌手 记者 工程师 科学家 运动员 导演 诗人",
    "COMPANY": "华为公司 阿里巴巴 中国移动 联想集团 东方航空 新华书店 海尔集团 工商银行",
    "COUNTRY": "美国 日本 韩国 法国 德国 意大利 英国 巴西 印度 泰国 越南 加拿大 澳大利亚 俄罗斯 西班牙",
    "BOOK": "红楼梦 三国演义 水浒传 西游记 骆驼祥子 围城 边城 论语",
}

LANGUAGES = {"ja": (JAPANESE, JAPANESE_WORDS), "zh": (CHINESE, CHINESE_WORDS)}


def _filled(pattern: str, words: dict[str, list[str]], chance: random.Random) -> str:
    return re.sub(r"\{(\w+)\}", lambda slot: chance.choice(words[slot[1]]), pattern)


def sentences(language: str, count: int, seed: int = 0) -> list[tuple[str, str]]:
    """As many of each kind, (kind, sentence), each once."""
    patterns, lists = LANGUAGES[language]
    words = {name: values.split(" ") for name, values in lists.items()}
    chance = random.Random(seed)
    chosen: dict[str, str] = {}
    for number in range(count):
        kind = KINDS[number % len(KINDS)]
        lines = patterns[kind].split()
        while (sentence := _filled(chance.choice(lines), words, chance)) in chosen:
            pass
        chosen[sentence] = kind
    return [(kind, sentence) for sentence, kind in chosen.items()]


def random_sentences(language: str, count: int, seed: int = 0) -> list[str]:
    """Whatever characters and marks of the language, digits and Latin letters stand in a row."""
    chance = random.Random(seed)
    ranges = [(0x4E00, 0x9FFF), (0x4E00, 0x9FFF), (0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A), (0x3000, 0x301F), (0xFF01, 0xFF5E), (0x20, 0x7E)]
    if language == "ja":
        ranges += [(0x3041, 0x309F), (0x3041, 0x309F), (0x30A0, 0x30FF), (0xFF66, 0xFF9F)]
    known = "".join(word for values in LANGUAGES[language][1].values() for word in values.split(" "))
    texts = []
    for _ in range(count):
        text = ""
        for _ in range(chance.randint(1, 40)):
            first, last = chance.choice(ranges)
            text += chance.choice(known) if chance.random() < 0.5 else chr(chance.randint(first, last))
        texts.append(text)
    return texts
