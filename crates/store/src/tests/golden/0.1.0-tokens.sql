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
INSERT INTO streams VALUES(1,'01a21073-ed18-7474-8f4e-3c1256b60f3d','conversation',0,'',0,36,1795572362572,'Old room','hybrid',1795572362520,NULL,0,0,X'2f47e6ac42de18c8a90471da004c3b03',0);
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
INSERT INTO events VALUES(1,1,1795572362520,'{"created":{"name":"Old room","by":"user","policy":{"name":"hybrid","max_agent_turns_per_message":3,"agent_reply_timeout":null,"cooldown":2000,"max_depth":2,"max_voluntary_responders":null,"voluntary_timeout":null,"max_exchanges_without_human":20,"patience":30000}}}',NULL,NULL,X'127566b150d1f6ce56e5ddeef728b02a');
INSERT INTO events VALUES(1,2,1795572362524,'{"controlled":{"by":"user","changes":[{"invited":{"participant":"analyst","kind":"agent","given":{"client":"analyst","model":"demo"},"profile":{"client":"analyst","model":"demo"},"facts":{"runtime":"script","known":true,"on_lost":"rerun","abilities":{"takes_turns":true,"memory":"none","answers":"by_reply","hears":"prompt","limit":30000,"lives_in_session":false,"runs_programs":false}},"skeleton":"analyst"}}]}}',NULL,NULL,X'76ec49379a080857ba1e542fab210d54');
INSERT INTO events VALUES(1,3,1795572362528,'{"controlled":{"by":"user","changes":[{"invited":{"participant":"writer","kind":"agent","given":{"client":"writer","model":"demo"},"profile":{"client":"writer","model":"demo"},"facts":{"runtime":"script","known":true,"on_lost":"rerun","abilities":{"takes_turns":true,"memory":"none","answers":"by_reply","hears":"prompt","limit":30000,"lives_in_session":false,"runs_programs":false}},"skeleton":"writer"}}]}}',NULL,NULL,X'a0e5ca528b46f0c2bf344bde21b70131');
INSERT INTO events VALUES(1,4,1795572362530,'{"controlled":{"by":"user","changes":[{"invited":{"participant":"critic","kind":"agent","given":{"client":"critic","model":"demo"},"profile":{"client":"critic","model":"demo"},"facts":{"runtime":"script","known":true,"on_lost":"rerun","abilities":{"takes_turns":true,"memory":"none","answers":"by_reply","hears":"prompt","limit":30000,"lives_in_session":false,"runs_programs":false}},"skeleton":"critic"}}]}}',NULL,NULL,X'9d0ab223868f96928cc6b23bdd63e920');
INSERT INTO events VALUES(1,5,1795572362541,'{"posted":{"from":"ann","kind":"human","to":"all","depth":0,"fingerprint":2317988085}}','said once',NULL,X'42634d6025ffad0d201dd529595d76cf');
INSERT INTO events VALUES(1,6,1795572362542,'{"round_opened":{"cause":{"seq":5,"id":"01a21073-ed2d-7000-8000-000567bceb76","from":"ann","depth":0},"cap":3,"forced":[],"polled":["analyst","writer","critic"]}}',NULL,NULL,X'b295cc330b971421d56493c998d76d41');
INSERT INTO events VALUES(1,7,1795572362543,'{"turn_granted":{"turn":1,"participant":"analyst","why":"polled","kind":"reply","may_pass":true,"cause":{"seq":5,"id":"01a21073-ed2d-7000-8000-000567bceb76","from":"ann","depth":0},"expires":1795575962541,"patience":1795572392541}}',NULL,NULL,X'e6baa5ecbb1f3a8857825ac2ad183802');
INSERT INTO events VALUES(1,8,1795572362544,'{"turn_started":{"turn":1,"attempt":1,"from_seq":0,"through_seq":7,"deadline":1795572392544}}',NULL,NULL,X'8a706cf06038a65170fff58be998f12c');
INSERT INTO events VALUES(1,9,1795572362545,'{"turn_ended":{"turn":1,"participant":"analyst","attempt":1,"outcome":"passed","usage":{"ms":0}}}',NULL,NULL,X'9e5571758fa5727cb6f15dd402e2c07a');
INSERT INTO events VALUES(1,10,1795572362546,'{"turn_granted":{"turn":2,"participant":"writer","why":"polled","kind":"reply","may_pass":true,"cause":{"seq":5,"id":"01a21073-ed2d-7000-8000-000567bceb76","from":"ann","depth":0},"expires":1795575962544,"patience":1795572392544}}',NULL,NULL,X'daae4dd18e9ec6586754ce168be4a3b0');
INSERT INTO events VALUES(1,11,1795572362547,'{"turn_started":{"turn":2,"attempt":1,"from_seq":0,"through_seq":10,"deadline":1795572392547}}',NULL,NULL,X'650fa32b6f377ce0febf0a17f5e1d0c4');
INSERT INTO events VALUES(1,12,1795572362548,'{"turn_ended":{"turn":2,"participant":"writer","attempt":1,"outcome":"passed","usage":{"ms":0}}}',NULL,NULL,X'6472fbc6db872373ab048566dfd3866b');
INSERT INTO events VALUES(1,13,1795572362549,'{"turn_granted":{"turn":3,"participant":"critic","why":"polled","kind":"reply","may_pass":true,"cause":{"seq":5,"id":"01a21073-ed2d-7000-8000-000567bceb76","from":"ann","depth":0},"expires":1795575962547,"patience":1795572392547}}',NULL,NULL,X'e92096e10fd6c2df311e828fa3c8d4cb');
INSERT INTO events VALUES(1,14,1795572362550,'{"posted":{"from":"ann","kind":"human","to":"all","mentions":["writer"],"depth":0,"queued":true,"fingerprint":3610890197}}','@writer a line please',NULL,X'd5e88589af9f1d66083a931916d4cdce');
INSERT INTO events VALUES(1,15,1795572362551,'{"turn_started":{"turn":3,"attempt":1,"from_seq":0,"through_seq":14,"deadline":1795572392550}}',NULL,NULL,X'c40966a8730b3d19250189136193bf63');
INSERT INTO events VALUES(1,16,1795572362552,'{"turn_ended":{"turn":3,"participant":"critic","attempt":1,"outcome":"passed","usage":{"ms":0}}}',NULL,NULL,X'631ba709a63ed0be9914c3ddc70dc6eb');
INSERT INTO events VALUES(1,17,1795572362553,'"round_closed"',NULL,NULL,X'938b6bd92a437ecee600ac7c81f2561a');
INSERT INTO events VALUES(1,18,1795572362554,'{"taken":{"cause":{"seq":14,"id":"01a21073-ed36-7000-8000-000e67bceb76","from":"ann","depth":0}}}',NULL,NULL,X'7726a00556b4f9b836831efe6dc80ad7');
INSERT INTO events VALUES(1,19,1795572362555,'{"round_opened":{"cause":{"seq":14,"id":"01a21073-ed36-7000-8000-000e67bceb76","from":"ann","depth":0},"cap":3,"forced":["writer"],"polled":["analyst","critic"]}}',NULL,NULL,X'fc4df1e962a836639ac7362c7e3bdb04');
INSERT INTO events VALUES(1,20,1795572362556,'{"turn_granted":{"turn":4,"participant":"writer","why":"forced","kind":"reply","may_pass":false,"cause":{"seq":14,"id":"01a21073-ed36-7000-8000-000e67bceb76","from":"ann","depth":0},"expires":1795575962551,"patience":1795572392551}}',NULL,NULL,X'd0bde2e5ca60f3c8a85284900c5f7f9e');
INSERT INTO events VALUES(1,21,1795572362557,'{"turn_started":{"turn":4,"attempt":1,"from_seq":10,"through_seq":20,"deadline":1795572392556}}',NULL,NULL,X'9650c8f954534589ec9f8bf399349409');
INSERT INTO events VALUES(1,22,1795572362558,'{"posted":{"from":"writer","kind":"agent","to":"all","depth":1,"reply_to":{"seq":14,"id":"01a21073-ed36-7000-8000-000e67bceb76","from":"ann","depth":0},"turn":4,"tags":["coordinator"],"via":true,"fingerprint":2927218042}}',replace('Draft:\n\n> The matter is this: “a line please.” Nobody has objected so far; what this means for line comes next.','\n',char(10)),NULL,X'af3b45c2a7fbe559dc2f7179eebe42f7');
INSERT INTO events VALUES(1,23,1795572362559,'{"turn_ended":{"turn":4,"participant":"writer","attempt":1,"outcome":"spoke","usage":{"ms":0}}}',NULL,NULL,X'a5bec99cc51f6420653df819667a5267');
INSERT INTO events VALUES(1,24,1795572362560,'{"turn_granted":{"turn":5,"participant":"analyst","why":"polled","kind":"reply","may_pass":true,"cause":{"seq":14,"id":"01a21073-ed36-7000-8000-000e67bceb76","from":"ann","depth":0},"expires":1795575962557,"patience":1795572392557}}',NULL,NULL,X'8731d18072db248fc86145b1c808ac58');
INSERT INTO events VALUES(1,25,1795572362561,'{"turn_started":{"turn":5,"attempt":1,"from_seq":7,"through_seq":24,"deadline":1795572392560}}',NULL,NULL,X'8eb178209bbd0d581dedd812be0272ee');
INSERT INTO events VALUES(1,26,1795572362562,'{"turn_ended":{"turn":5,"participant":"analyst","attempt":1,"outcome":"passed","usage":{"ms":0}}}',NULL,NULL,X'5935689252618bad4085724e84f2e721');
INSERT INTO events VALUES(1,27,1795572362563,'{"turn_granted":{"turn":6,"participant":"critic","why":"polled","kind":"reply","may_pass":true,"cause":{"seq":14,"id":"01a21073-ed36-7000-8000-000e67bceb76","from":"ann","depth":0},"expires":1795575962561,"patience":1795572392561}}',NULL,NULL,X'4036a5587f5a26e5aa2af39fa1756916');
INSERT INTO events VALUES(1,28,1795572362564,'{"turn_started":{"turn":6,"attempt":1,"from_seq":14,"through_seq":27,"deadline":1795572392563}}',NULL,NULL,X'c2fe3cde9e18d245c680fe3f970fac33');
INSERT INTO events VALUES(1,29,1795572362565,'{"posted":{"from":"critic","kind":"agent","to":"all","depth":1,"reply_to":{"seq":14,"id":"01a21073-ed36-7000-8000-000e67bceb76","from":"ann","depth":0},"turn":6,"tags":["coordinator"],"via":true,"fingerprint":2615826151}}','One objection, writer: “The matter is this: a line please.” — this is one case; name a second one before we rely on it.',NULL,X'55e78d9c99fc6db0d0a00465bbf369a1');
INSERT INTO events VALUES(1,30,1795572362566,'{"turn_ended":{"turn":6,"participant":"critic","attempt":1,"outcome":"spoke","usage":{"ms":0}}}',NULL,NULL,X'09b920115b30fa31440ece1fa59e6c27');
INSERT INTO events VALUES(1,31,1795572362567,'{"reaction_opened":{"forced":[],"polled":["analyst","writer"]}}',NULL,NULL,X'1844b455e11a3db283d80e6f06acc38b');
INSERT INTO events VALUES(1,32,1795572362568,'{"turn_granted":{"turn":7,"participant":"analyst","why":"reaction","kind":"reply","may_pass":true,"cause":{"seq":29,"id":"01a21073-ed45-7000-8000-001d67bceb76","from":"critic","depth":1},"expires":1795575962564,"patience":1795572392564}}',NULL,NULL,X'9e1bc2e35664b8b191ef866a1746adde');
INSERT INTO events VALUES(1,33,1795572362569,'{"turn_started":{"turn":7,"attempt":1,"from_seq":24,"through_seq":32,"deadline":1795572392568}}',NULL,NULL,X'440d7743f04628ab8904e509c3cc2b7e');
INSERT INTO events VALUES(1,34,1795572362570,'{"turn_ended":{"turn":7,"participant":"analyst","attempt":1,"outcome":"passed","usage":{"ms":0}}}',NULL,NULL,X'2cc57802b9e13f00bdc2f5077214a135');
INSERT INTO events VALUES(1,35,1795572362571,'{"skipped":{"participant":"writer","why_not":"cooled","cause":{"seq":14,"id":"01a21073-ed36-7000-8000-000e67bceb76","from":"ann","depth":0}}}',NULL,NULL,X'4f75b45b692d6e0442ca12bc20627c32');
INSERT INTO events VALUES(1,36,1795572362572,'"round_closed"',NULL,NULL,X'2f47e6ac42de18c8a90471da004c3b03');
CREATE TABLE claims (
    namespace TEXT NOT NULL,
    key TEXT NOT NULL,
    stream TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    outcome TEXT NOT NULL,
    expires INTEGER,
    PRIMARY KEY (namespace, key)
) STRICT;
INSERT INTO claims VALUES('idem','user:01a21073-ed17-73b1-a1bf-625fccaf2b27','01a21073-ed18-7474-8f4e-3c1256b60f3d','cfe72eed625faf9271bca4849ee504098dbc809deb38bfa4687f699ffed44b4f','1',1795658762520);
INSERT INTO claims VALUES('idem','user:01a21073-ed1b-7127-8235-6ea886daf15f','01a21073-ed18-7474-8f4e-3c1256b60f3d','63a7172c9d2edd9f8e420e846a48ee0af4fb3346968c36a5e1bcccf5c04cc069','2',1795658762524);
INSERT INTO claims VALUES('idem','user:01a21073-ed1e-727f-9e28-ddc8848baabe','01a21073-ed18-7474-8f4e-3c1256b60f3d','554cbe56e89e4309fa50fb585c9f21f101e2bab7ba2348bd6858b5574e20d917','3',1795658762528);
INSERT INTO claims VALUES('idem','user:01a21073-ed21-77f6-a84c-50aac76732e9','01a21073-ed18-7474-8f4e-3c1256b60f3d','7fbe20ab8d8523023c36b46beb01403d05b4d9e29193feaa775308226e9b6e68','4',1795658762530);
INSERT INTO claims VALUES('idem','ann:once','01a21073-ed18-7474-8f4e-3c1256b60f3d','c20685bdd8303e42a1a48441ae965b22ec53b12bcb226da4e610c802a839ed06','5',1795658762541);
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
CREATE TABLE principals (id TEXT PRIMARY KEY, kind TEXT NOT NULL, created_at INTEGER NOT NULL) STRICT;
INSERT INTO principals VALUES('ann','human',1795572362382);
INSERT INTO principals VALUES('critic','agent',1795572362441);
INSERT INTO principals VALUES('gone','human',1795572362467);
INSERT INTO principals VALUES('guest','human',1795572362553);
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
INSERT INTO tokens VALUES(1,'3178e541d19fd2b2','personal',X'e0533f5894a12585200ac5fee6b62e437a70cd5b0a2b3c5702874430489dbb80','ann','threads:read threads:write participants:invite turns:control agents:run',NULL,'',NULL,1795572362382,1803348362382,1795572362536,NULL);
INSERT INTO tokens VALUES(2,'845de4968ff3179a','agent',X'48341d53005c07df92350630902912bf604edf3dc5019167794a3e4c8b08cfdb','critic','threads:read threads:write',NULL,'',NULL,1795572362441,1803348362441,NULL,NULL);
INSERT INTO tokens VALUES(3,'3fbaf2aee70326c2','personal',X'5aad08cf5ee6b41519883bf95c87f39d86e790f254e4207d3e62b3d49e0ef028','gone','threads:read threads:write participants:invite turns:control agents:run',NULL,'',NULL,1795572362467,1803348362467,NULL,1795572362498);
INSERT INTO tokens VALUES(4,'a62ac420a7f029f6','invitation',X'b836471b883c98e0fef28366900130e4a402110a358111329da7c7bc61dac54d','guest','threads:read threads:write participants:invite turns:control agents:run','01a21073-ed18-7474-8f4e-3c1256b60f3d','','3178e541d19fd2b2',1795572362553,1795658762553,NULL,NULL);
CREATE TABLE audit (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    deed TEXT NOT NULL,
    principal TEXT,
    token TEXT,
    about TEXT,
    detail TEXT NOT NULL
) STRICT;
INSERT INTO audit VALUES(1,1795572362382,'token_created','user','start-57c43e69ba26e1ab','3178e541d19fd2b2','personal for ann: threads:read threads:write participants:invite turns:control agents:run');
INSERT INTO audit VALUES(2,1795572362441,'token_created','user','start-57c43e69ba26e1ab','845de4968ff3179a','agent for critic: threads:read threads:write');
INSERT INTO audit VALUES(3,1795572362467,'token_created','user','start-57c43e69ba26e1ab','3fbaf2aee70326c2','personal for gone: threads:read threads:write participants:invite turns:control agents:run');
INSERT INTO audit VALUES(4,1795572362498,'token_revoked','user','start-57c43e69ba26e1ab','3fbaf2aee70326c2','');
INSERT INTO audit VALUES(5,1795572362553,'invited','ann','3178e541d19fd2b2','a62ac420a7f029f6','invitation for guest: threads:read threads:write participants:invite turns:control agents:run, in 1 conversations');
INSERT INTO audit VALUES(6,1795572362554,'denied',NULL,NULL,NULL,'GET /threads: without a valid credential');
CREATE TABLE read_marks (
    reader TEXT NOT NULL,
    stream INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (reader, stream)
) STRICT, WITHOUT ROWID;
CREATE TABLE sessions (id TEXT PRIMARY KEY, row TEXT NOT NULL) STRICT;
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
INSERT INTO usage VALUES(1795572000000,1,'analyst','ann',3,0,0,0,0);
INSERT INTO usage VALUES(1795572000000,1,'critic','ann',2,0,0,0,0);
INSERT INTO usage VALUES(1795572000000,1,'writer','ann',2,0,0,0,0);
CREATE TABLE usage_uncounted (stream INTEGER PRIMARY KEY, head INTEGER NOT NULL) STRICT;
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('audit',6);
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
