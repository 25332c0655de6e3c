PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
INSERT INTO meta VALUES('format','2');
CREATE TABLE streams (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL DEFAULT 'conversation',
    epoch INTEGER NOT NULL DEFAULT 0,
    owner TEXT NOT NULL DEFAULT '',
    owner_until INTEGER NOT NULL DEFAULT 0,
    head INTEGER NOT NULL DEFAULT 0,
    last_ts INTEGER NOT NULL DEFAULT 0,
    title TEXT NOT NULL DEFAULT '',
    policy TEXT NOT NULL DEFAULT '',
    created_at INTEGER NOT NULL DEFAULT 0,
    next_wake INTEGER,
    has_duties INTEGER NOT NULL DEFAULT 0,
    archived INTEGER NOT NULL DEFAULT 0,
    chain BLOB NOT NULL DEFAULT x''
, waits_for_people INTEGER) STRICT;
INSERT INTO streams VALUES(1,'01a211f4-b87f-793a-8d3e-6e63cf0bc198','conversation',0,'',0,2,1795597580698,'For guests','mention_only',1795597580415,NULL,0,0,X'6b3d5f3743d3584912e39e5183a48a4f',0);
INSERT INTO streams VALUES(2,'01a211f4-b893-7fec-ad36-fd2116177894','task',0,'',0,3,1795597580437,'','',1795597580435,NULL,0,0,X'36b1237c46861ab2c6ff186db8477ca0',0);
INSERT INTO streams VALUES(3,'01a211f4-b893-7467-a64e-e7a41061082c','conversation',0,'',0,3,1795597580441,'One','mention_only',1795597580437,NULL,0,0,X'b4534a51a1de919b012de45a4df7e3b1',0);
INSERT INTO streams VALUES(4,'01a211f4-b89b-704a-be33-2a487099df38','conversation',0,'',0,22,1795597580466,'Held','open',1795597580443,NULL,0,0,X'a942515e251b5a2ccb83d267e9d58deb',1);
INSERT INTO streams VALUES(5,'01a211f4-b8a5-7831-886f-b347474a6aa0','conversation',0,'',0,6,1795597580461,'Paused','mention_only',1795597580453,NULL,0,0,X'9d6431678dccb83bccedbae296028bc3',0);
INSERT INTO streams VALUES(6,'01a211f4-b8ae-76c9-8707-c578c06e03ad','conversation',0,'',0,5,1795597580690,'planner in planner','open',1795597580462,1795599380689,1,0,X'da7d4f1d4c6f0017c90eef0bf2b164be',0);
INSERT INTO streams VALUES(7,'01a211f4-b994-746d-87d8-441f358cd71f','conversation',0,'',0,7,1795597580698,'Gathering: daily','talking_piece',1795597580692,1795601180697,0,0,X'20db393e28c4982e8b0fc8b4c674bc66',1);
INSERT INTO streams VALUES(8,'01a211f4-b99c-7589-b50b-51adacbaf1b8','conversation',0,'',0,15,1795597580717,'At work','mention_only',1795597580700,1795598180712,1,0,X'e318829704b90e117b8bd6f607ecd5b9',0);
CREATE TABLE events (
    stream INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    ts INTEGER NOT NULL,
    envelope TEXT NOT NULL,
    body TEXT,
    body_hash BLOB,
    chain BLOB NOT NULL,
    PRIMARY KEY (stream, seq)
) STRICT;
INSERT INTO events VALUES(1,1,1795597580415,'{"created":{"name":"For guests","by":"user","policy":{"name":"mention_only","max_agent_turns_per_message":3,"agent_reply_timeout":null,"cooldown":0,"max_depth":2,"max_voluntary_responders":null,"voluntary_timeout":null,"max_exchanges_without_human":20,"patience":30000}}}',NULL,NULL,X'00f23aee2fd9c80af41bf2b7ba059505');
INSERT INTO events VALUES(2,1,1795597580435,'{"task":{"requested":{"app":"7b0f3c52-9d1e-4c39-8a53-2f6b1c9de410","initiator":"01a211f4-b88e-7023-b6e9-8dadf59ef16b","invited":["01a211f4-b88d-7190-8c96-61014ae83765"],"first":{"id":"01a211f4-b893-7467-a64e-e7a41061082c","name":"One","participants":["01a211f4-b88d-7190-8c96-61014ae83765"]},"terms":{}}}}',NULL,NULL,X'34c7f5e013641ab5f6ad6b1e3f18d458');
INSERT INTO events VALUES(2,2,1795597580436,'{"task":"accepted"}',NULL,NULL,X'f701761748a11b73da0a36aae1441908');
INSERT INTO events VALUES(2,3,1795597580437,'{"task":{"conversation_opened":{"conversation":{"id":"01a211f4-b893-7467-a64e-e7a41061082c","name":"One","participants":["01a211f4-b88d-7190-8c96-61014ae83765"]},"by":"01a211f4-b88e-7023-b6e9-8dadf59ef16b","first":true}}}',NULL,NULL,X'36b1237c46861ab2c6ff186db8477ca0');
INSERT INTO events VALUES(3,1,1795597580437,'{"created":{"name":"One","by":"01a211f4-b88e-7023-b6e9-8dadf59ef16b","policy":{"name":"mention_only","max_agent_turns_per_message":3,"agent_reply_timeout":null,"cooldown":0,"max_depth":2,"max_voluntary_responders":null,"voluntary_timeout":null,"max_exchanges_without_human":20,"patience":30000},"task":{"task":"01a211f4-b893-7fec-ad36-fd2116177894","titled":true,"participants":["01a211f4-b88d-7190-8c96-61014ae83765"],"first":true}}}',NULL,NULL,X'25a7c008d2d4cc46375e88ed58aaf061');
INSERT INTO events VALUES(3,2,1795597580438,'{"controlled":{"by":"01a211f4-b88e-7023-b6e9-8dadf59ef16b","changes":[{"invited":{"participant":"01a211f4-b88d-7190-8c96-61014ae83765","kind":"agent","given":{"client":"json-rpc","model":"remote","nickname":"ada"},"profile":{"client":"json-rpc","model":"remote","nickname":"ada"},"facts":{"runtime":"remote","known":false,"on_lost":"rerun","abilities":{"takes_turns":true,"memory":"none","answers":"by_posting","hears":"prompt","limit":600000,"lives_in_session":false,"runs_programs":false}},"skeleton":"ada"}},{"invited":{"participant":"01a211f4-b88e-7023-b6e9-8dadf59ef16b","kind":"agent","given":{"client":"json-rpc","model":"remote","nickname":"bob"},"profile":{"client":"json-rpc","model":"remote","nickname":"bob"},"facts":{"runtime":"remote","known":false,"on_lost":"rerun","abilities":{"takes_turns":true,"memory":"none","answers":"by_posting","hears":"prompt","limit":600000,"lives_in_session":false,"runs_programs":false}},"skeleton":"bob"}}]}}',NULL,NULL,X'e9f779bede2eaf3bbdaaf7a10123297a');
INSERT INTO events VALUES(3,3,1795597580441,'{"posted":{"from":"01a211f4-b88e-7023-b6e9-8dadf59ef16b","kind":"agent","to":"all","depth":1,"unasked":true,"fingerprint":2319626572}}','under way',NULL,X'b4534a51a1de919b012de45a4df7e3b1');
INSERT INTO events VALUES(4,1,1795597580443,'{"created":{"name":"Held","by":"user","policy":{"name":"open","max_agent_turns_per_message":3,"agent_reply_timeout":null,"cooldown":0,"max_depth":2,"max_voluntary_responders":null,"voluntary_timeout":null,"max_exchanges_without_human":4,"patience":30000}}}',NULL,NULL,X'a8e54e08e2606ce28fa7bd3390b102f2');
INSERT INTO events VALUES(4,2,1795597580445,'{"controlled":{"by":"user","changes":[{"invited":{"participant":"echo","kind":"agent","given":{"client":"echo","model":"m"},"profile":{"client":"echo","model":"m"},"facts":{"runtime":"script","known":true,"on_lost":"rerun","abilities":{"takes_turns":true,"memory":"none","answers":"by_reply","hears":"prompt","limit":30000,"lives_in_session":false,"runs_programs":false}},"skeleton":"echo"}}]}}',NULL,NULL,X'fd8561986fc9dbb286a6bbaed26e0f8e');
INSERT INTO events VALUES(4,3,1795597580447,'{"controlled":{"by":"user","changes":[{"invited":{"participant":"chorus","kind":"agent","given":{"client":"echo","model":"m"},"profile":{"client":"echo","model":"m"},"facts":{"runtime":"script","known":true,"on_lost":"rerun","abilities":{"takes_turns":true,"memory":"none","answers":"by_reply","hears":"prompt","limit":30000,"lives_in_session":false,"runs_programs":false}},"skeleton":"chorus"}}]}}',NULL,NULL,X'6b906627c932d395c808f805b835ae17');
INSERT INTO events VALUES(4,4,1795597580448,'{"posted":{"from":"user","kind":"human","to":"all","depth":0,"fingerprint":2482391091}}','talk to each other',NULL,X'678aa182ca1b27bc25431fd757e6f5f0');
INSERT INTO events VALUES(4,5,1795597580449,'{"turn_granted":{"turn":1,"participant":"echo","why":"link","kind":"reply","may_pass":true,"cause":{"seq":4,"id":"01a211f4-b8a0-7000-8000-00049c06abc6","from":"user","depth":0},"expires":1795601180448}}',NULL,NULL,X'8b26cf0dbf78fe472d93206b6571e11e');
INSERT INTO events VALUES(4,6,1795597580450,'{"turn_granted":{"turn":2,"participant":"chorus","why":"link","kind":"reply","may_pass":true,"cause":{"seq":4,"id":"01a211f4-b8a0-7000-8000-00049c06abc6","from":"user","depth":0},"expires":1795601180448}}',NULL,NULL,X'c81a5cf3110904dff55c5a7b21a2ac9c');
INSERT INTO events VALUES(4,7,1795597580451,'{"turn_started":{"turn":1,"attempt":1,"from_seq":0,"through_seq":6,"deadline":1795597610450}}',NULL,NULL,X'f097e5c6db1beb8ac950f17a97d6758b');
INSERT INTO events VALUES(4,8,1795597580452,'{"posted":{"from":"echo","kind":"agent","to":"all","depth":1,"reply_to":{"seq":4,"id":"01a211f4-b8a0-7000-8000-00049c06abc6","from":"user","depth":0},"turn":1,"tags":["coordinator"],"via":true,"fingerprint":4272557235}}','heard',NULL,X'4e554f765c114ef8cefd5df0a7708a10');
INSERT INTO events VALUES(4,9,1795597580453,'{"turn_ended":{"turn":1,"participant":"echo","attempt":1,"outcome":"spoke","usage":{"ms":0}}}',NULL,NULL,X'03aaac3f8ec00235278b371c7790457d');
INSERT INTO events VALUES(4,10,1795597580454,'{"turn_widened":{"turn":2,"why":"link","kind":"reply","may_pass":true,"cause":{"seq":8,"id":"01a211f4-b8a4-7000-8000-00089c06abc6","from":"echo","depth":1}}}',NULL,NULL,X'98573c6db3908b88dfe75391dab8f8fd');
INSERT INTO events VALUES(4,11,1795597580455,'{"turn_started":{"turn":2,"attempt":1,"from_seq":0,"through_seq":6,"deadline":1795597610454}}',NULL,NULL,X'f325137d838a8ee06f36f26c0d86afec');
INSERT INTO events VALUES(4,12,1795597580456,'{"turn_granted":{"turn":3,"participant":"chorus","why":"link","kind":"reply","may_pass":true,"cause":{"seq":8,"id":"01a211f4-b8a4-7000-8000-00089c06abc6","from":"echo","depth":1},"expires":1795601180454}}',NULL,NULL,X'961ee2f78ee079fd529de3a7dcd65123');
INSERT INTO events VALUES(4,13,1795597580457,'{"posted":{"from":"chorus","kind":"agent","to":"all","depth":1,"reply_to":{"seq":4,"id":"01a211f4-b8a0-7000-8000-00049c06abc6","from":"user","depth":0},"turn":2,"tags":["coordinator"],"via":true,"fingerprint":4272557235}}','heard',NULL,X'efa330da34d8c3398950551d25a4f4c9');
INSERT INTO events VALUES(4,14,1795597580458,'{"turn_ended":{"turn":2,"participant":"chorus","attempt":1,"outcome":"spoke","usage":{"ms":0}}}',NULL,NULL,X'bb6bba02dfaff2f69cfcf0632f9ad739');
INSERT INTO events VALUES(4,15,1795597580459,'{"turn_granted":{"turn":4,"participant":"echo","why":"link","kind":"reply","may_pass":true,"cause":{"seq":13,"id":"01a211f4-b8a9-7000-8000-000d9c06abc6","from":"chorus","depth":1},"expires":1795601180456}}',NULL,NULL,X'9f2f770fe17fbeaa4ca1d2aef2ecb24d');
INSERT INTO events VALUES(4,16,1795597580460,'{"turn_started":{"turn":3,"attempt":1,"from_seq":6,"through_seq":15,"deadline":1795597610459}}',NULL,NULL,X'51e738de79e10e3ecac7064d2207955e');
INSERT INTO events VALUES(4,17,1795597580461,'{"posted":{"from":"chorus","kind":"agent","to":"all","depth":2,"reply_to":{"seq":8,"id":"01a211f4-b8a4-7000-8000-00089c06abc6","from":"echo","depth":1},"turn":3,"tags":["coordinator"],"via":true,"fingerprint":4272557235}}','heard',NULL,X'5e71eca7f94716c2e0f77aa75cf48ad5');
INSERT INTO events VALUES(4,18,1795597580462,'{"turn_ended":{"turn":3,"participant":"chorus","attempt":1,"outcome":"spoke","usage":{"ms":0}}}',NULL,NULL,X'092944bea7f74cfa846502d28402d830');
INSERT INTO events VALUES(4,19,1795597580463,'{"held":{"guard":"repeat"}}',NULL,NULL,X'8ded5b89814fe54d511478b75dd87fd5');
INSERT INTO events VALUES(4,20,1795597580464,'{"turn_started":{"turn":4,"attempt":1,"from_seq":6,"through_seq":15,"deadline":1795597610463}}',NULL,NULL,X'a7858f053e24614c4aee013648fb482b');
INSERT INTO events VALUES(4,21,1795597580465,'{"posted":{"from":"echo","kind":"agent","to":"all","depth":2,"reply_to":{"seq":13,"id":"01a211f4-b8a9-7000-8000-000d9c06abc6","from":"chorus","depth":1},"turn":4,"tags":["coordinator"],"via":true,"fingerprint":4272557235}}','heard',NULL,X'5420388ef297bd47b3b0d57c0dc74773');
INSERT INTO events VALUES(4,22,1795597580466,'{"turn_ended":{"turn":4,"participant":"echo","attempt":1,"outcome":"spoke","usage":{"ms":0}}}',NULL,NULL,X'a942515e251b5a2ccb83d267e9d58deb');
INSERT INTO events VALUES(5,1,1795597580453,'{"created":{"name":"Paused","by":"user","policy":{"name":"mention_only","max_agent_turns_per_message":3,"agent_reply_timeout":null,"cooldown":0,"max_depth":2,"max_voluntary_responders":null,"voluntary_timeout":null,"max_exchanges_without_human":20,"patience":30000}}}',NULL,NULL,X'aefb213e6d65c3ebd6c2b33c57805cb6');
INSERT INTO events VALUES(5,2,1795597580454,'{"controlled":{"by":"user","changes":[{"invited":{"participant":"echo","kind":"agent","given":{"client":"echo","model":"m"},"profile":{"client":"echo","model":"m"},"facts":{"runtime":"script","known":true,"on_lost":"rerun","abilities":{"takes_turns":true,"memory":"none","answers":"by_reply","hears":"prompt","limit":30000,"lives_in_session":false,"runs_programs":false}},"skeleton":"echo"}}]}}',NULL,NULL,X'c9e1fd200c5e0ffb563e3cc0f3dd50a9');
INSERT INTO events VALUES(5,3,1795597580456,'{"controlled":{"by":"user","changes":[{"invited":{"participant":"chorus","kind":"agent","given":{"client":"echo","model":"m"},"profile":{"client":"echo","model":"m"},"facts":{"runtime":"script","known":true,"on_lost":"rerun","abilities":{"takes_turns":true,"memory":"none","answers":"by_reply","hears":"prompt","limit":30000,"lives_in_session":false,"runs_programs":false}},"skeleton":"chorus"}}]}}',NULL,NULL,X'967e68bffacb990aa49118cdf080cd3d');
INSERT INTO events VALUES(5,4,1795597580458,'{"controlled":{"by":"user","changes":[{"muted":{"targets":["chorus"]}}]}}',NULL,NULL,X'8673a3785f775c43cdced7dc92ad0b92');
INSERT INTO events VALUES(5,5,1795597580459,'{"controlled":{"by":"user","changes":[{"paused":{"on":true}}]}}',NULL,NULL,X'5b1c159e0eb296b7f649643a2cff8b81');
INSERT INTO events VALUES(5,6,1795597580461,'{"posted":{"from":"user","kind":"human","to":"all","mentions":["echo"],"depth":0,"queued":true,"fingerprint":1329346407}}','@echo said during the pause',NULL,X'9d6431678dccb83bccedbae296028bc3');
INSERT INTO events VALUES(6,1,1795597580462,'{"created":{"name":"planner in planner","by":"user","policy":{"name":"open","max_agent_turns_per_message":3,"agent_reply_timeout":null,"cooldown":0,"max_depth":2,"max_voluntary_responders":null,"voluntary_timeout":null,"max_exchanges_without_human":200,"patience":30000}}}',NULL,NULL,X'04bbbd6a9be80656be8e47be61553279');
INSERT INTO events VALUES(6,2,1795597580463,'{"controlled":{"by":"user","changes":[{"invited":{"participant":"planner","kind":"agent","given":{"client":"fake","model":"fake"},"profile":{"client":"fake","model":"fake"},"facts":{"runtime":"terminal","known":true,"on_lost":"fail","abilities":{"takes_turns":true,"memory":"own","answers":"by_reply","hears":"frames","limit":1800000,"lives_in_session":true,"runs_programs":true}},"skeleton":"planner","address":{"computer":"","kind":"session","local_id":"01a211f4-b8ae-76c9-8707-c578c06e03ad"}}}]}}',NULL,NULL,X'0296323289a42db72411ed2d04790597');
INSERT INTO events VALUES(6,3,1795597580688,'{"posted":{"from":"user","kind":"human","to":"all","depth":0,"fingerprint":2830959499}}','[work:60] [say:the plan]',NULL,X'2df6a45d40f473b79c38c4c1df3e0172');
INSERT INTO events VALUES(6,4,1795597580689,'{"turn_granted":{"turn":1,"participant":"planner","why":"link","kind":"reply","may_pass":true,"cause":{"seq":3,"id":"01a211f4-b990-7000-8000-0003243f07a5","from":"user","depth":0},"expires":1795601180688}}',NULL,NULL,X'8bd164df857fad768e4ec9e212b3bb78');
INSERT INTO events VALUES(6,5,1795597580690,'{"turn_started":{"turn":1,"attempt":1,"from_seq":0,"through_seq":4,"deadline":1795599380689}}',NULL,NULL,X'da7d4f1d4c6f0017c90eef0bf2b164be');
INSERT INTO events VALUES(7,1,1795597580692,'{"created":{"name":"Gathering: daily","by":"user","policy":{"name":"talking_piece","max_agent_turns_per_message":3,"agent_reply_timeout":null,"cooldown":0,"max_depth":2,"max_voluntary_responders":null,"voluntary_timeout":null,"max_exchanges_without_human":20,"patience":30000}}}',NULL,NULL,X'0016fcf0cd2efea765f8c8ed386c879a');
INSERT INTO events VALUES(7,2,1795597580693,'{"controlled":{"by":"user","changes":[{"invited":{"participant":"ann","kind":"human","given":{"client":"human","model":"human","nickname":"Ann"},"profile":{"client":"human","model":"human","nickname":"Ann"},"facts":{"runtime":"remote","known":false,"on_lost":"rerun","abilities":{"takes_turns":true,"memory":"none","answers":"by_posting","hears":"prompt","limit":600000,"lives_in_session":false,"runs_programs":false}},"skeleton":"ann","number":1,"part":"speaker"}},{"invited":{"participant":"pat","kind":"human","given":{"client":"human","model":"human","nickname":"Pat"},"profile":{"client":"human","model":"human","nickname":"Pat"},"facts":{"runtime":"remote","known":false,"on_lost":"rerun","abilities":{"takes_turns":true,"memory":"none","answers":"by_posting","hears":"prompt","limit":600000,"lives_in_session":false,"runs_programs":false}},"skeleton":"pat","number":2,"part":"speaker"}},{"invited":{"participant":"hal","kind":"agent","given":{"client":"scribe","model":"scribe","nickname":"Hal"},"profile":{"client":"scribe","model":"scribe","nickname":"Hal"},"facts":{"runtime":"script","known":true,"on_lost":"rerun","abilities":{"takes_turns":true,"memory":"none","answers":"by_reply","hears":"prompt","limit":30000,"lives_in_session":false,"runs_programs":false}},"skeleton":"hal","number":3,"part":"harvester"}},{"bound":{"target":"gathering:01a211f4-b994-73cc-889f-7dcb73f9a959"}}]}}',NULL,NULL,X'f8a9a544d8db002b8d5365909fb6804b');
INSERT INTO events VALUES(7,3,1795597580694,'{"gathering":{"opened":{"plan":{"rhythm":"daily","breath":[1,1,1],"beats_per_turn":3,"beat_interval":3600000,"last_word":3600000,"opening_question":"What is in the way?","hearing":"live","pulse":["conversations: 5, 5 used within a day","sessions that live: 1","agents that can be asked: analyst, critic, echo, fake, scribe, slow, thrifty, writer"]},"by":"user","members":[{"id":"ann","name":"Ann","number":1,"part":"speaker","kind":"human"},{"id":"pat","name":"Pat","number":2,"part":"speaker","kind":"human"},{"id":"hal","name":"Hal","number":3,"part":"harvester","kind":"agent"}]}}}',NULL,NULL,X'f07561c482cb7854443e5818661d92bc');
INSERT INTO events VALUES(7,4,1795597580695,'{"gathering":{"round_opened":{"phase":"inhale","round":1,"order":["ann","pat"]}}}',NULL,NULL,X'84dca5b4cd7408873903404e241d89e3');
INSERT INTO events VALUES(7,5,1795597580696,'{"noticed":{"code":"phase","text":"--- Phase: INHALE (round 1/1) --- Speak independently and put what you see on the table; do not answer the others."}}',NULL,NULL,X'decc17e27192fb44ed95f3c378213cfa');
INSERT INTO events VALUES(7,6,1795597580697,'{"gathering":{"piece_given":{"holder":"ann"}}}',NULL,NULL,X'0c8fab454e5abc93cec0ad34ddfd338f');
INSERT INTO events VALUES(7,7,1795597580698,'{"posted":{"from":"ann","kind":"human","to":"all","depth":0,"fingerprint":1300684419}}','one word',NULL,X'20db393e28c4982e8b0fc8b4c674bc66');
INSERT INTO events VALUES(1,2,1795597580698,'{"posted":{"from":"ann","kind":"agent","to":"all","depth":1,"unasked":true,"fingerprint":2317988085}}','said once',NULL,X'6b3d5f3743d3584912e39e5183a48a4f');
INSERT INTO events VALUES(8,1,1795597580700,'{"created":{"name":"At work","by":"user","policy":{"name":"mention_only","max_agent_turns_per_message":3,"agent_reply_timeout":null,"cooldown":0,"max_depth":2,"max_voluntary_responders":null,"voluntary_timeout":null,"max_exchanges_without_human":20,"patience":30000}}}',NULL,NULL,X'2a0328eed0eb9d85a43105a074d57da2');
INSERT INTO events VALUES(8,2,1795597580701,'{"controlled":{"by":"user","changes":[{"invited":{"participant":"slow","kind":"agent","given":{"client":"slow","model":"m"},"profile":{"client":"slow","model":"m"},"facts":{"runtime":"command","known":true,"on_lost":"rerun","abilities":{"takes_turns":true,"memory":"none","answers":"by_reply","hears":"prompt","limit":600000,"lives_in_session":false,"runs_programs":true}},"skeleton":"slow"}}]}}',NULL,NULL,X'89ae8003a0d428a7a7d84aed5c1c75e9');
INSERT INTO events VALUES(8,3,1795597580703,'{"controlled":{"by":"user","changes":[{"invited":{"participant":"thrifty","kind":"agent","given":{"client":"thrifty","model":"m"},"profile":{"client":"thrifty","model":"m"},"facts":{"runtime":"script","known":true,"on_lost":"rerun","abilities":{"takes_turns":true,"memory":"none","answers":"by_reply","hears":"prompt","limit":30000,"lives_in_session":false,"runs_programs":false}},"skeleton":"thrifty"}}]}}',NULL,NULL,X'e68648218bea2a3746ef342a69d22c1d');
INSERT INTO events VALUES(8,4,1795597580705,'{"posted":{"from":"user","kind":"human","to":"all","mentions":["thrifty"],"depth":0,"fingerprint":2848986072}}','@thrifty the first of many',NULL,X'a8ebf5ff7b18f390fbbaf5a313dcfc20');
INSERT INTO events VALUES(8,5,1795597580706,'{"turn_granted":{"turn":1,"participant":"thrifty","why":"forced","kind":"reply","may_pass":false,"cause":{"seq":4,"id":"01a211f4-b9a1-7000-8000-0004ffd8934d","from":"user","depth":0},"expires":1795601180705}}',NULL,NULL,X'15ed44eef8f3c6467df6fec7720c31ab');
INSERT INTO events VALUES(8,6,1795597580707,'{"turn_started":{"turn":1,"attempt":1,"from_seq":0,"through_seq":5,"deadline":1795597610706}}',NULL,NULL,X'f04a71e03977be99023a64eacb004b28');
INSERT INTO events VALUES(8,7,1795597580708,'{"posted":{"from":"thrifty","kind":"agent","to":"all","depth":1,"reply_to":{"seq":4,"id":"01a211f4-b9a1-7000-8000-0004ffd8934d","from":"user","depth":0},"turn":1,"tags":["coordinator"],"via":true,"fingerprint":2422920448}}','cheap',NULL,X'97d6d6f0c7625cff4e52633db62e49a0');
INSERT INTO events VALUES(8,8,1795597580709,'{"turn_ended":{"turn":1,"participant":"thrifty","attempt":1,"outcome":"spoke","usage":{"ms":0}}}',NULL,NULL,X'e99775355989e7c8e15471a56fafff0e');
INSERT INTO events VALUES(8,9,1795597580710,'{"posted":{"from":"user","kind":"human","to":"all","mentions":["slow"],"depth":0,"fingerprint":218661959}}','@slow the first',NULL,X'8ebb7a43530f05bd1e807054ed79c054');
INSERT INTO events VALUES(8,10,1795597580711,'{"turn_granted":{"turn":2,"participant":"slow","why":"forced","kind":"reply","may_pass":false,"cause":{"seq":9,"id":"01a211f4-b9a6-7000-8000-0009ffd8934d","from":"user","depth":0},"expires":1795601180709}}',NULL,NULL,X'1b52d685c677d216ae5c51685e994fbd');
INSERT INTO events VALUES(8,11,1795597580712,'{"turn_started":{"turn":2,"attempt":1,"from_seq":0,"through_seq":10,"deadline":1795598180712}}',NULL,NULL,X'5f683915fe2f63103cfdf47aeb978836');
INSERT INTO events VALUES(8,12,1795597580714,'{"posted":{"from":"user","kind":"human","to":"all","mentions":["slow"],"depth":0,"fingerprint":3410146587}}','@slow the second',NULL,X'f57b80c9d894eabe3a58a0a39091c013');
INSERT INTO events VALUES(8,13,1795597580715,'{"turn_granted":{"turn":3,"participant":"slow","why":"forced","kind":"reply","may_pass":false,"cause":{"seq":12,"id":"01a211f4-b9aa-7000-8000-000cffd8934d","from":"user","depth":0},"expires":1795601180714}}',NULL,NULL,X'0c4e3b5de53ccebdd92159c7e7666e45');
INSERT INTO events VALUES(8,14,1795597580716,'{"posted":{"from":"user","kind":"human","to":"all","mentions":["slow"],"depth":0,"fingerprint":408886260}}','@slow the third',NULL,X'487e5fa0ce465d45244387df01c67e02');
INSERT INTO events VALUES(8,15,1795597580717,'{"turn_widened":{"turn":3,"why":"forced","kind":"reply","may_pass":false,"cause":{"seq":14,"id":"01a211f4-b9ac-7000-8000-000effd8934d","from":"user","depth":0}}}',NULL,NULL,X'e318829704b90e117b8bd6f607ecd5b9');
CREATE TABLE claims (
    namespace TEXT NOT NULL,
    key TEXT NOT NULL,
    stream TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    outcome TEXT NOT NULL,
    expires INTEGER,
    PRIMARY KEY (namespace, key)
) STRICT;
INSERT INTO claims VALUES('member/01a211f4-b88e-7023-b6e9-8dadf59ef16b','01a211f4-b893-7fec-ad36-fd2116177894','01a211f4-b893-7fec-ad36-fd2116177894','','task',NULL);
INSERT INTO claims VALUES('member/01a211f4-b88d-7190-8c96-61014ae83765','01a211f4-b893-7fec-ad36-fd2116177894','01a211f4-b893-7fec-ad36-fd2116177894','','task',NULL);
INSERT INTO claims VALUES('member/01a211f4-b88d-7190-8c96-61014ae83765','01a211f4-b893-7467-a64e-e7a41061082c','01a211f4-b893-7467-a64e-e7a41061082c','','conversation',NULL);
INSERT INTO claims VALUES('member/01a211f4-b88e-7023-b6e9-8dadf59ef16b','01a211f4-b893-7467-a64e-e7a41061082c','01a211f4-b893-7467-a64e-e7a41061082c','','conversation',NULL);
INSERT INTO claims VALUES('gathering','01a211f4-b994-73cc-889f-7dcb73f9a959','01a211f4-b994-746d-87d8-441f358cd71f','','',NULL);
INSERT INTO claims VALUES('idem','ann:once-1','01a211f4-b87f-793a-8d3e-6e63cf0bc198','dbbe44c41cb16eb9af86bf90d783ee6746c83484d9e36de3c61dee4c28fa4743','2',1795683980698);
CREATE TABLE deliveries (
    id INTEGER PRIMARY KEY,
    target TEXT NOT NULL,
    stream INTEGER NOT NULL,
    turn INTEGER,
    attempt INTEGER NOT NULL,
    through_seq INTEGER NOT NULL,
    state INTEGER NOT NULL,
    evidence TEXT NOT NULL DEFAULT ''
, command TEXT) STRICT;
INSERT INTO deliveries VALUES(1,'stream:01a211f4-b893-7467-a64e-e7a41061082c',2,NULL,0,3,4,'event 1',NULL);
INSERT INTO deliveries VALUES(2,'session:01a211f4-b8ae-76c9-8707-c578c06e03ad',6,1,1,4,3,'',NULL);
CREATE TABLE principals (id TEXT PRIMARY KEY, kind TEXT NOT NULL, created_at INTEGER NOT NULL) STRICT;
INSERT INTO principals VALUES('gone','human',1795597580417);
INSERT INTO principals VALUES('early','human',1795597580420);
INSERT INTO principals VALUES('ann','human',1795597580422);
INSERT INTO principals VALUES('rita','human',1795597580423);
INSERT INTO principals VALUES('critic','agent',1795597580425);
INSERT INTO principals VALUES('bea','human',1795597580426);
INSERT INTO principals VALUES('late','human',1795597580428);
INSERT INTO principals VALUES('01a211f4-b88d-7190-8c96-61014ae83765','agent',1795597580429);
INSERT INTO principals VALUES('01a211f4-b88e-7023-b6e9-8dadf59ef16b','agent',1795597580430);
CREATE TABLE tokens (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    hash BLOB NOT NULL UNIQUE,
    principal TEXT NOT NULL REFERENCES principals (id),
    scopes TEXT NOT NULL,
    threads TEXT,
    label TEXT NOT NULL,
    parent TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    last_used_at INTEGER,
    revoked_at INTEGER
) STRICT;
INSERT INTO tokens VALUES(1,'9df29c1c83777a0b','personal',X'2316c394dd7deb754425724dcb04c922d829d5cf9a3538d4239b1ec7125a24fd','gone','threads:read threads:write participants:invite turns:control agents:run',NULL,'',NULL,1795597580417,1827133580417,NULL,1795597580419);
INSERT INTO tokens VALUES(2,'6f222731ed115a65','invitation',X'24a825e0d2b93a388171d66715e0a4f634fc33f0cd9bc1c464750d18a6f81fdc','early','threads:read threads:write participants:invite turns:control agents:run','01a211f4-b87f-793a-8d3e-6e63cf0bc198','',NULL,1795597580420,1796202380420,NULL,1795597580421);
INSERT INTO tokens VALUES(3,'e4a19c5139c940c9','personal',X'102891578e01bfd88dc7abdae2f94534e7105e668513d0c287bb2808f4191ff7','early','threads:read threads:write participants:invite turns:control agents:run','01a211f4-b87f-793a-8d3e-6e63cf0bc198','by invitation',NULL,1795597580421,1803373580421,NULL,NULL);
INSERT INTO tokens VALUES(4,'3c7887b15530428d','personal',X'19676c33c6ddf46630bb8f7e40dbf732ba6813d99c9d7be8f1100f737106a874','ann','threads:read threads:write participants:invite turns:control agents:run',NULL,'',NULL,1795597580422,1827133580422,NULL,NULL);
INSERT INTO tokens VALUES(5,'7bd7584dcc973786','personal',X'a5a5cc8f381d79193389eb2d30a812d48804c099b761820e36c1c15a8b07fffb','rita','threads:read',NULL,'',NULL,1795597580423,1827133580423,NULL,NULL);
INSERT INTO tokens VALUES(6,'07611c1086b6b703','agent',X'5fe3263e0a12bc85773e7ac264de59f673d3ba1f82be44ca6f59c545aeb9ec63','critic','threads:read threads:write',NULL,'',NULL,1795597580425,1827133580425,NULL,NULL);
INSERT INTO tokens VALUES(7,'fef1dd0abf49b316','personal',X'0aa8d22bcb57f763ad77e0300aace3e33d483869a34757d83581bb0dab919262','bea','threads:read threads:write participants:invite turns:control agents:run','01a211f4-b87f-793a-8d3e-6e63cf0bc198','',NULL,1795597580426,1827133580426,NULL,NULL);
INSERT INTO tokens VALUES(8,'a8a06f80616ac866','invitation',X'5ccb3bccfdb20f33dd7ff99b13b9169de83d396a0c75a5c6338cb46524b10fe4','late','threads:read threads:write participants:invite turns:control agents:run','01a211f4-b87f-793a-8d3e-6e63cf0bc198','',NULL,1795597580428,1796202380428,NULL,NULL);
INSERT INTO tokens VALUES(9,'2b4b609c9bed168a','agent',X'96f62556d8bd486749f34efdd1a48e6f0fa878bed50a3834ca40468ed5f092b4','01a211f4-b88d-7190-8c96-61014ae83765','threads:read threads:write','','ada',NULL,1795597580429,2110957580429,1795597580432,NULL);
INSERT INTO tokens VALUES(10,'8eaf7c909cb9f593','agent',X'45c841751ac83ccd26244f251f94c522297d396a20ded11f246cfc96f15b6aaf','01a211f4-b88e-7023-b6e9-8dadf59ef16b','threads:read threads:write','','bob',NULL,1795597580430,2110957580430,1795597580434,NULL);
CREATE TABLE audit (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    deed TEXT NOT NULL,
    principal TEXT,
    token TEXT,
    about TEXT,
    detail TEXT NOT NULL
) STRICT;
INSERT INTO audit VALUES(1,1795597580417,'token_created','user','start-8c33aceb2d7c484a','9df29c1c83777a0b','personal for gone: threads:read threads:write participants:invite turns:control agents:run');
INSERT INTO audit VALUES(2,1795597580419,'token_revoked','user','start-8c33aceb2d7c484a','9df29c1c83777a0b','');
INSERT INTO audit VALUES(3,1795597580420,'invited','user','start-8c33aceb2d7c484a','6f222731ed115a65','invitation for early: threads:read threads:write participants:invite turns:control agents:run, in 1 conversations');
INSERT INTO audit VALUES(4,1795597580421,'accepted',NULL,NULL,'e4a19c5139c940c9','invitation 6f222731ed115a65');
INSERT INTO audit VALUES(5,1795597580422,'token_created','user','start-8c33aceb2d7c484a','3c7887b15530428d','personal for ann: threads:read threads:write participants:invite turns:control agents:run');
INSERT INTO audit VALUES(6,1795597580423,'token_created','user','start-8c33aceb2d7c484a','7bd7584dcc973786','personal for rita: threads:read');
INSERT INTO audit VALUES(7,1795597580425,'token_created','user','start-8c33aceb2d7c484a','07611c1086b6b703','agent for critic: threads:read threads:write');
INSERT INTO audit VALUES(8,1795597580426,'token_created','user','start-8c33aceb2d7c484a','fef1dd0abf49b316','personal for bea: threads:read threads:write participants:invite turns:control agents:run, in 1 conversations');
INSERT INTO audit VALUES(9,1795597580428,'invited','user','start-8c33aceb2d7c484a','a8a06f80616ac866','invitation for late: threads:read threads:write participants:invite turns:control agents:run, in 1 conversations');
INSERT INTO audit VALUES(10,1795597580429,'registered',NULL,NULL,'2b4b609c9bed168a','ada as 01a211f4-b88d-7190-8c96-61014ae83765');
INSERT INTO audit VALUES(11,1795597580430,'registered',NULL,NULL,'8eaf7c909cb9f593','bob as 01a211f4-b88e-7023-b6e9-8dadf59ef16b');
CREATE TABLE read_marks (
    reader TEXT NOT NULL,
    stream INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (reader, stream)
) STRICT, WITHOUT ROWID;
CREATE TABLE sessions (id TEXT PRIMARY KEY, row TEXT NOT NULL) STRICT;
INSERT INTO sessions VALUES('01a211f4-b8ae-76c9-8707-c578c06e03ad','{"id":"01a211f4-b8ae-76c9-8707-c578c06e03ad","name":"planner","client":"fake","computer":"","cwd":"/srv/planner","pane":{"socket":"","id":"%1","pid":16549},"native":"fake-16549","origin":"started","token_hash":"17c78b9742ddd191f211440beb26597550869e8f53d7dc90d88f8f95be576e3d","started_at":1795597580463,"ended":null,"started_by":{"person":"user"},"run_as":null}');
CREATE TABLE session_listeners (
    target TEXT NOT NULL,
    caller TEXT NOT NULL,
    PRIMARY KEY (target, caller)
) STRICT, WITHOUT ROWID;
CREATE TABLE budget_raises (purse TEXT PRIMARY KEY, turns INTEGER NOT NULL, micros INTEGER NOT NULL, until INTEGER NOT NULL) STRICT;
CREATE TABLE session_rooms (
    session TEXT NOT NULL,
    room TEXT NOT NULL,
    PRIMARY KEY (session, room)
) STRICT, WITHOUT ROWID;
INSERT INTO session_rooms VALUES('01a211f4-b8ae-76c9-8707-c578c06e03ad','01a211f4-b8ae-76c9-8707-c578c06e03ad');
CREATE TABLE snapshots (
    stream INTEGER PRIMARY KEY,
    version INTEGER NOT NULL,
    head INTEGER NOT NULL,
    state BLOB NOT NULL,
    checksum BLOB NOT NULL
) STRICT;
CREATE TABLE agent_cards (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE REFERENCES principals (id),
    name TEXT NOT NULL UNIQUE,
    claim BLOB NOT NULL UNIQUE,
    description TEXT,
    owner TEXT,
    created_at INTEGER NOT NULL
) STRICT;
INSERT INTO agent_cards VALUES(1,'01a211f4-b88d-7190-8c96-61014ae83765','ada',X'c5f1fdcb20211dad6a2f70856372f5d340211786dc9ce82fb65373047db242ba',NULL,NULL,1795597580429);
INSERT INTO agent_cards VALUES(2,'01a211f4-b88e-7023-b6e9-8dadf59ef16b','bob',X'1de16abaeb9b54ef80577ceb5c34a8fde64d2649c191c302962676fff5ba5a18',NULL,NULL,1795597580430);
CREATE TABLE usage (
    hour INTEGER NOT NULL,
    stream INTEGER NOT NULL,
    agent TEXT NOT NULL,
    caused_by TEXT NOT NULL,
    turns INTEGER NOT NULL,
    unattended INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cost_micros INTEGER NOT NULL,
    PRIMARY KEY (hour, stream, agent, caused_by)
) STRICT, WITHOUT ROWID;
INSERT INTO usage VALUES(1795597200000,4,'echo','user',4,0,0,0,0);
INSERT INTO usage VALUES(1795597200000,6,'fake','user',1,0,0,0,0);
INSERT INTO usage VALUES(1795597200000,8,'slow','user',2,0,0,0,0);
INSERT INTO usage VALUES(1795597200000,8,'thrifty','user',1,0,0,0,0);
CREATE TABLE usage_uncounted (stream INTEGER PRIMARY KEY, head INTEGER NOT NULL) STRICT;
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('audit',11);
CREATE INDEX streams_with_duties ON streams (key) WHERE has_duties = 1;
CREATE INDEX streams_to_wake ON streams (next_wake) WHERE next_wake IS NOT NULL;
CREATE INDEX claims_to_lapse ON claims (expires) WHERE expires IS NOT NULL;
CREATE INDEX deliveries_open ON deliveries (target, id) WHERE state < 4;
CREATE INDEX deliveries_of_stream ON deliveries (stream, id);
CREATE INDEX tokens_of_parent ON tokens (parent) WHERE parent IS NOT NULL;
CREATE TRIGGER audit_is_not_changed BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the record is only added to'); END;
CREATE TRIGGER audit_is_not_shortened BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'the record is only added to'); END;
CREATE INDEX events_said ON events (stream, seq) WHERE envelope GLOB '{"posted"*';
CREATE INDEX streams_deleted ON streams (key) WHERE kind = 'deleted';
CREATE INDEX deliveries_of_target ON deliveries (target, id);
CREATE INDEX deliveries_lost ON deliveries (state) WHERE state > 4;
CREATE INDEX agent_cards_of_owner ON agent_cards (owner, created_at) WHERE owner IS NOT NULL;
CREATE INDEX usage_of_stream ON usage (stream);
CREATE INDEX streams_open ON streams (key) WHERE archived = 0;
COMMIT;
