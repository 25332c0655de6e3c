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
) STRICT;
INSERT INTO streams VALUES(1,'01a201d1-8c41-7446-9fb0-bfb414503932','conversation',0,'',0,6,1795326840680,'ada in ada','open',1795326839873,NULL,0,0,X'a497276035d9d3badf6281410193f36a');
INSERT INTO streams VALUES(2,'01a201d1-8d37-712f-9c61-7636f7a017d0','conversation',0,'',0,6,1795326840525,'bob in bob','open',1795326840119,NULL,0,0,X'ebf77c1369e4da85e18cd1d987c93bc3');
INSERT INTO streams VALUES(3,'01a201d1-8f84-7bf8-8185-cecc88afdc17','conversation',0,'',0,13,1795326841056,'ada ↔ bob','open',1795326840708,1795328641056,1,0,X'd817ac6f7abe7497d438d7a4e2853f45');
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
INSERT INTO events VALUES(1,1,1795326839873,'{"created":{"name":"ada in ada","by":"user","policy":{"name":"open","max_agent_turns_per_message":3,"agent_reply_timeout":null,"cooldown":2000,"max_depth":2,"max_voluntary_responders":null,"voluntary_timeout":null,"max_exchanges_without_human":200}}}',NULL,NULL,X'61be726b1b4e3b7e383687cadfa7b95a');
INSERT INTO events VALUES(1,2,1795326839875,'{"controlled":{"by":"user","changes":[{"invited":{"participant":"ada","kind":"agent","given":{"client":"fake","model":"fake"},"profile":{"client":"fake","model":"fake"},"facts":{"runtime":"terminal","known":true,"on_lost":"fail"},"skeleton":"ada","address":{"computer":"","kind":"session","local_id":"01a201d1-8c41-7446-9fb0-bfb414503932"}}}]}}',NULL,NULL,X'69ed94506b052b494b0a5b550c446f28');
INSERT INTO events VALUES(2,1,1795326840119,'{"created":{"name":"bob in bob","by":"user","policy":{"name":"open","max_agent_turns_per_message":3,"agent_reply_timeout":null,"cooldown":2000,"max_depth":2,"max_voluntary_responders":null,"voluntary_timeout":null,"max_exchanges_without_human":200}}}',NULL,NULL,X'3115067835b530264e64ec2c50b33b99');
INSERT INTO events VALUES(2,2,1795326840121,'{"controlled":{"by":"user","changes":[{"invited":{"participant":"bob","kind":"agent","given":{"client":"fake","model":"fake"},"profile":{"client":"fake","model":"fake"},"facts":{"runtime":"terminal","known":true,"on_lost":"fail"},"skeleton":"bob","address":{"computer":"","kind":"session","local_id":"01a201d1-8d37-712f-9c61-7636f7a017d0"}}}]}}',NULL,NULL,X'76bf5736c32e05812f352cfed0c7ceff');
INSERT INTO events VALUES(2,3,1795326840368,'{"posted":{"from":"ada","kind":"agent","to":{"one":"bob"},"depth":1,"fingerprint":1505361631}}','a job',NULL,X'b379c3098f3ab561473d896bb9b5bb80');
INSERT INTO events VALUES(2,4,1795326840369,'{"turn_granted":{"turn":1,"participant":"bob","why":"link","kind":"reply","may_pass":true,"cause":{"seq":3,"id":"01a201d1-8e30-7000-8000-0003ad601f46","from":"ada","depth":1},"expires":1795330440368}}',NULL,NULL,X'bcdf6ed3bf59d31d98c678b92fe56d4f');
INSERT INTO events VALUES(2,5,1795326840372,'{"turn_started":{"turn":1,"attempt":1,"from_seq":0,"through_seq":4,"deadline":1795328640372}}',NULL,NULL,X'53d8deee8a831a5c32542d24b51679cb');
INSERT INTO events VALUES(2,6,1795326840525,'{"turn_ended":{"turn":1,"participant":"bob","attempt":1,"outcome":"passed","usage":{"ms":153}}}',NULL,NULL,X'ebf77c1369e4da85e18cd1d987c93bc3');
INSERT INTO events VALUES(1,3,1795326840528,'{"posted":{"from":"bob","kind":"agent","to":{"one":"ada"},"depth":1,"fingerprint":2228727258}}','Session 01a201d1-8d37-712f-9c61-7636f7a017d0 "bob" finished its turn. Use get_session_data(session_id="01a201d1-8d37-712f-9c61-7636f7a017d0") to read what it said.',NULL,X'f0c65039ca90c07857d1178ad778e81e');
INSERT INTO events VALUES(1,4,1795326840529,'{"turn_granted":{"turn":1,"participant":"ada","why":"link","kind":"reply","may_pass":true,"cause":{"seq":3,"id":"01a201d1-8ed0-7000-8000-000396ae82fe","from":"bob","depth":1},"expires":1795330440528}}',NULL,NULL,X'2a7cefe8cd48fb485e820c6c56a8cf2d');
INSERT INTO events VALUES(1,5,1795326840532,'{"turn_started":{"turn":1,"attempt":1,"from_seq":0,"through_seq":4,"deadline":1795328640532}}',NULL,NULL,X'119b079d4a0eaea92dacc4b950e5af2f');
INSERT INTO events VALUES(1,6,1795326840680,'{"turn_ended":{"turn":1,"participant":"ada","attempt":1,"outcome":"passed","usage":{"ms":147}}}',NULL,NULL,X'a497276035d9d3badf6281410193f36a');
INSERT INTO events VALUES(3,1,1795326840708,'{"created":{"name":"ada ↔ bob","by":"ada","policy":{"name":"open","max_agent_turns_per_message":3,"agent_reply_timeout":null,"cooldown":2000,"max_depth":2,"max_voluntary_responders":null,"voluntary_timeout":null,"max_exchanges_without_human":20}}}',NULL,NULL,X'398b64db62fcb81f3ed19a3d47c01a4a');
INSERT INTO events VALUES(3,2,1795326840710,'{"controlled":{"by":"ada","changes":[{"invited":{"participant":"ada","kind":"agent","given":{"client":"fake","model":"fake"},"profile":{"client":"fake","model":"fake"},"facts":{"runtime":"terminal","known":true,"on_lost":"fail"},"skeleton":"ada","address":{"computer":"","kind":"session","local_id":"01a201d1-8c41-7446-9fb0-bfb414503932"},"number":1}},{"invited":{"participant":"bob","kind":"agent","given":{"client":"fake","model":"fake"},"profile":{"client":"fake","model":"fake"},"facts":{"runtime":"terminal","known":true,"on_lost":"fail"},"skeleton":"bob","address":{"computer":"","kind":"session","local_id":"01a201d1-8d37-712f-9c61-7636f7a017d0"},"number":2}},{"bound":{"target":"link:28cff520047ef99f380e4ab8db1c58ba73fafa72c5bc1f62ebfdcb15edcdb88d"}}]}}',NULL,NULL,X'7876bc0bb97c14cc3a91ed75e7bfefd0');
INSERT INTO events VALUES(3,3,1795326840711,'{"posted":{"from":"ada","kind":"agent","to":"all","depth":1,"fingerprint":1008436172}}','[say:heard]',NULL,X'83c0d059963947f68235f2e1b928f29e');
INSERT INTO events VALUES(3,4,1795326840712,'{"turn_granted":{"turn":1,"participant":"bob","why":"link","kind":"reply","may_pass":true,"cause":{"seq":3,"id":"01a201d1-8f87-7000-8000-0003a8b9b404","from":"ada","depth":1},"expires":1795330440711}}',NULL,NULL,X'3aa905b47fa46b297b6841fc6430d27c');
INSERT INTO events VALUES(3,5,1795326840713,'{"turn_started":{"turn":1,"attempt":1,"from_seq":0,"through_seq":4,"deadline":1795328640713}}',NULL,NULL,X'75f236779aa2852769c59ed729b2f439');
INSERT INTO events VALUES(3,6,1795326840863,'{"posted":{"from":"bob","kind":"agent","to":"all","depth":2,"reply_to":{"seq":3,"id":"01a201d1-8f87-7000-8000-0003a8b9b404","from":"ada","depth":1},"turn":1,"tags":["coordinator"],"via":true,"fingerprint":4272557235}}','heard',NULL,X'f78325e9afb3146bcad964483ad04c95');
INSERT INTO events VALUES(3,7,1795326840864,'{"turn_ended":{"turn":1,"participant":"bob","attempt":1,"outcome":"spoke","usage":{"ms":150}}}',NULL,NULL,X'99f38903bbfbcc63cd8dd38ce70fa01f');
INSERT INTO events VALUES(3,8,1795326840865,'{"turn_granted":{"turn":2,"participant":"ada","why":"link","kind":"reply","may_pass":true,"cause":{"seq":6,"id":"01a201d1-901f-7000-8000-0006a8b9b404","from":"bob","depth":2},"expires":1795330440863}}',NULL,NULL,X'6a33724cb3d2921ab49d2e6b1e66db9f');
INSERT INTO events VALUES(3,9,1795326840866,'{"turn_started":{"turn":2,"attempt":1,"from_seq":0,"through_seq":8,"deadline":1795328640866}}',NULL,NULL,X'eb05c950b522c46d5b8071f7cac084ef');
INSERT INTO events VALUES(3,10,1795326841018,'{"turn_ended":{"turn":2,"participant":"ada","attempt":1,"outcome":"passed","usage":{"ms":152}}}',NULL,NULL,X'32cece76eeb65e4da6986d6ef97321ea');
INSERT INTO events VALUES(3,11,1795326841053,'{"posted":{"from":"ada","kind":"agent","to":"all","depth":1,"fingerprint":3909916045}}','once more',NULL,X'868e255bba07d5e354c5c59647c1f8ec');
INSERT INTO events VALUES(3,12,1795326841054,'{"turn_granted":{"turn":3,"participant":"bob","why":"link","kind":"reply","may_pass":true,"cause":{"seq":11,"id":"01a201d1-90dd-7000-8000-000ba8b9b404","from":"ada","depth":1},"expires":1795330441053}}',NULL,NULL,X'22f8158cd1a1c0042a5897e90e3e1d8c');
INSERT INTO events VALUES(3,13,1795326841056,'{"turn_started":{"turn":3,"attempt":1,"from_seq":4,"through_seq":12,"deadline":1795328641056}}',NULL,NULL,X'd817ac6f7abe7497d438d7a4e2853f45');
CREATE TABLE claims (
    namespace TEXT NOT NULL,
    key TEXT NOT NULL,
    stream TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    outcome TEXT NOT NULL,
    expires INTEGER,
    PRIMARY KEY (namespace, key)
) STRICT;
INSERT INTO claims VALUES('idem','moothall:hook:80be35015216ffa664f7cbead586f31bf3080101d79118b7ac1a9a2a9d194b04','01a201d1-8d37-712f-9c61-7636f7a017d0','','6',1795413240525);
INSERT INTO claims VALUES('idem','moothall:hook:be91ffab6e215c862838c563806719b86aeb99461a8d0bd36c4cdf5737772b7a','01a201d1-8c41-7446-9fb0-bfb414503932','','3',1795413240528);
INSERT INTO claims VALUES('idem','moothall:hook:000c59e68c57d58dafb41b4889cd1927415719b0549973656eb1a50b9cf01dc4','01a201d1-8c41-7446-9fb0-bfb414503932','','6',1795413240680);
INSERT INTO claims VALUES('link','28cff520047ef99f380e4ab8db1c58ba73fafa72c5bc1f62ebfdcb15edcdb88d','01a201d1-8f84-7bf8-8185-cecc88afdc17','','',NULL);
INSERT INTO claims VALUES('idem','moothall:hook:3e8752e9fa4411b6ce7375f540866da20fd016686d90a808e188828fae91aedb','01a201d1-8f84-7bf8-8185-cecc88afdc17','','6',1795413240863);
INSERT INTO claims VALUES('idem','moothall:hook:c04d5bae1c4166bfa5d5d3bbc040e8924ba9933c79226e715b760ef1d5003051','01a201d1-8f84-7bf8-8185-cecc88afdc17','','10',1795413241018);
CREATE TABLE deliveries (
    id INTEGER PRIMARY KEY,
    target TEXT NOT NULL,
    stream INTEGER NOT NULL,
    turn INTEGER,
    attempt INTEGER NOT NULL,
    through_seq INTEGER NOT NULL,
    state INTEGER NOT NULL,
    evidence TEXT NOT NULL DEFAULT ''
) STRICT;
INSERT INTO deliveries VALUES(1,'session:01a201d1-8d37-712f-9c61-7636f7a017d0',2,1,1,4,4,'');
INSERT INTO deliveries VALUES(2,'session:01a201d1-8c41-7446-9fb0-bfb414503932',1,1,1,4,4,'');
INSERT INTO deliveries VALUES(3,'session:01a201d1-8d37-712f-9c61-7636f7a017d0',3,1,1,4,4,'');
INSERT INTO deliveries VALUES(4,'session:01a201d1-8c41-7446-9fb0-bfb414503932',3,2,1,8,4,'');
INSERT INTO deliveries VALUES(5,'session:01a201d1-8d37-712f-9c61-7636f7a017d0',3,3,1,12,1,'');
CREATE TABLE principals (id TEXT PRIMARY KEY, kind TEXT NOT NULL, created_at INTEGER NOT NULL) STRICT;
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
CREATE TABLE audit (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    deed TEXT NOT NULL,
    principal TEXT,
    token TEXT,
    about TEXT,
    detail TEXT NOT NULL
) STRICT;
CREATE TABLE read_marks (
    reader TEXT NOT NULL,
    stream INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (reader, stream)
) STRICT, WITHOUT ROWID;
CREATE TABLE sessions (id TEXT PRIMARY KEY, row TEXT NOT NULL) STRICT;
INSERT INTO sessions VALUES('01a201d1-8c41-7446-9fb0-bfb414503932','{"id":"01a201d1-8c41-7446-9fb0-bfb414503932","name":"ada","client":"fake","computer":"","cwd":"work/ada","pane":{"socket":"","id":"%1","pid":31814},"native":"fake-31814","origin":"started","token_hash":"584df69d6fb110142f56293b8e32e4484c0a06630ba0ad567055e279094fa97f","started_at":1795326839875,"ended":null}');
INSERT INTO sessions VALUES('01a201d1-8d37-712f-9c61-7636f7a017d0','{"id":"01a201d1-8d37-712f-9c61-7636f7a017d0","name":"bob","client":"fake","computer":"","cwd":"work/bob","pane":{"socket":"","id":"%2","pid":31838},"native":"fake-31838","origin":"started","token_hash":"bfa53e879994f806f96dbd1db0ea8b9ceb0e495564e332f1bd4b0fd573e08bbe","started_at":1795326840121,"ended":null}');
CREATE TABLE session_listeners (
    target TEXT NOT NULL,
    caller TEXT NOT NULL,
    PRIMARY KEY (target, caller)
) STRICT, WITHOUT ROWID;
DELETE FROM sqlite_sequence;
CREATE INDEX streams_with_duties ON streams (key) WHERE has_duties = 1;
CREATE INDEX streams_to_wake ON streams (next_wake) WHERE next_wake IS NOT NULL;
CREATE INDEX streams_open ON streams (key) WHERE archived = 0 AND head > 0;
CREATE INDEX claims_to_lapse ON claims (expires) WHERE expires IS NOT NULL;
CREATE INDEX deliveries_open ON deliveries (target, id) WHERE state < 4;
CREATE INDEX deliveries_of_stream ON deliveries (stream, id);
CREATE INDEX tokens_of_parent ON tokens (parent) WHERE parent IS NOT NULL;
CREATE TRIGGER audit_is_not_changed BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the record is only added to'); END;
CREATE TRIGGER audit_is_not_shortened BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'the record is only added to'); END;
CREATE INDEX deliveries_of_target ON deliveries (target, id);
CREATE INDEX deliveries_lost ON deliveries (state) WHERE state > 4;
COMMIT;
