// Reading a configuration: defaults, spellings, precedence, and every error at once.
import t from 'tap';
import { chainRules } from '../../../src/node/config/configured-rules.ts';
import { effectiveSettings, exampleConfig } from '../../../src/node/config/document.ts';
import { networkSettings, valueAt } from '../../../src/node/config/genesis-section.ts';
import { allSettings } from '../../../src/node/config/settings.ts';
import { timeOfIsoDate } from '../../../src/rest-framework/iso-date.ts';
import { allTypes } from '../../../src/tx/registry.ts';
import { LEAST, OWNER, OWNER_KEY, problems, read } from './sample.ts';

t.test('the least configuration has every default', async (t) => {
  const { config, warnings, origins } = await read(LEAST);
  t.same(warnings, []);
  t.equal(config.ownerAddress, OWNER);
  t.equal(config.privacy.ownerAddress, OWNER, 'follows owner-address');
  t.equal(config.dataDirectory, '/home/op/node/data');
  t.equal(config.wallet.file, '/home/op/node/wallet/wallet.dat');
  t.equal(config.network.nodeName, 'Node-42');
  t.equal(config.wallet.password, undefined);
  t.equal(config.utx.memoryLimit, 100 * 1024 * 1024);
  t.same(config.blockchain.consensus.roundDuration, { ms: 17_000, text: '17 seconds' });
  t.equal(config.blockchain.custom.functionality.preActivatedFeatures.get(101), 0);
  t.equal(config.dockerEngine.protocolByCreateVersion.get(2), 'grpc');
  t.same([...origins.keys()].sort(), [
    'blockchain.custom.address-scheme-character',
    'owner-address',
    'rest-api.bind-address',
  ]);
});

t.test('defaults of other settings follow a folder of any name', async (t) => {
  const { config } = await read(`${LEAST}\n directory = undefined`);
  t.equal(config.dataDirectory, 'undefined/data');
  const { message } = await problems(`${LEAST}\n network.nonce = -1`);
  t.notMatch(message, /node-name/, 'a basis that is wrong is one problem');
});

t.test('keys stand below node or bare, and at both places at once', async (t) => {
  const rooted = await read(`node { ${LEAST} \n network.port = 7000 }`);
  t.equal(rooted.config.network.port, 7000);
  const mixed = await read(
    `node { owner-address = ${OWNER} }
     address-scheme-character = T
     network-participants = [{ public-key = abc, roles = [miner] }]
     somebody-elses { section = 1 }`,
  );
  t.equal(mixed.config.blockchain.custom.addressSchemeCharacter, 'T');
  t.equal(mixed.config.blockchain.custom.genesis.networkParticipants[0]?.publicKey, 'abc');
  t.notMatch(
    mixed.warnings.join('\n'),
    /somebody-elses/,
    'other sections are none of our business',
  );
});

t.test('other spellings', async (t) => {
  const { config, warnings } = await read(
    `owner-address = ${OWNER}
     address-scheme-character = T
     crypto.type = GOST
     api { rest { bind-address = "127.0.0.1", port = 1234 }, auth { type = api-key } }
     genesis { initial-balance = "1.5 WEST" }
     additional-cache.rocksdb.max-rollback-depth = 500`,
  );
  t.equal(config.platformCrypto, false);
  t.equal(config.restApi.port, 1234);
  t.equal(config.storage.maxRollbackDepth, 500);
  t.equal(config.blockchain.custom.genesis.initialBalance, 150_000_000n);
  const older = warnings.filter((warning) => warning.includes('older spelling'));
  t.equal(older.length, 3, 'older spellings draw a warning, those of the requirement do not');
  t.match(
    warnings.join('\n'),
    /node\.conf:4: 'api\.rest\.port' is an older spelling of 'rest-api\.port'/,
  );

  const differing = await problems(`${LEAST} rest-api.port = 1\n api.rest.port = 2`);
  t.match(differing.message, /rest-api\.port = 1: differs from api\.rest\.port, another spelling/);
  const same = await read(`${LEAST} rest-api.port = 2\n api.rest.port = 2`);
  t.equal(same.config.restApi.port, 2);
  const genesis = await problems(
    `${LEAST} genesis.initial-balance = 1\n blockchain.custom.genesis.initial-balance = 2`,
  );
  t.match(genesis.message, /differs from genesis\.initial-balance|differs from blockchain\.custom/);
});

t.test('flags win over variables, these over the file', async (t) => {
  const text = `${LEAST} network { port = 1, mode = watcher }\n rest-api.port = 1\n rest-api.cors = no`;
  const { config } = await read(text, {
    env: {
      NODE_NETWORK_PORT: '2',
      NODE_REST_API_PORT: '2',
      LOG_LEVEL: 'DEBUG',
      NODE_OPTIONS: '-x',
    },
    sets: ['rest-api.port=3', 'network.known-peers=a:1, b:2', 'node.rest-api.cors=yes'],
  });
  t.equal(config.network.mode, 'watcher');
  t.equal(config.network.port, 2);
  t.equal(config.restApi.port, 3);
  t.equal(config.restApi.cors, true);
  t.equal(config.loggingLevel, 'DEBUG');
  t.same(config.network.knownPeers, ['a:1', 'b:2']);
  const wrong = await problems(LEAST, { sets: ['rest-api.prt=3', 'nonsense'] });
  t.match(
    wrong.message,
    /--set: rest-api\.prt=3: unknown setting 'rest-api\.prt', did you mean 'rest-api\.port'\?/,
  );
  t.match(wrong.message, /--set: nonsense: must be written key=value/);
  const variable = await problems(LEAST, { env: { NODE_REST_API_PORT: 'many' } });
  t.match(
    variable.message,
    /environment: NODE_REST_API_PORT = "many": expected an integer from 0 to 65535/,
  );
});

t.test('a list of one, as a variable and as a flag', async (t) => {
  const supported = async (text: string) => {
    const { config } = await read(LEAST, { env: { NODE_FEATURES_SUPPORTED: text } });
    const { config: flag } = await read(LEAST, { sets: [`features.supported=${text}`] });
    t.same(flag.features.supported, config.features.supported);
    return config.features.supported;
  };
  t.same(await supported('1004'), [1004]);
  t.same(await supported(' 1004 '), [1004]);
  t.same(await supported('[1004]'), [1004]);
  t.same(await supported('"1004"'), [1004]);
  t.same(await supported('162,1004'), [162, 1004]);
  t.same(await supported(''), []);
  const { config } = await read(LEAST, { env: { NODE_NETWORK_KNOWN_PEERS: '"a:1"' } });
  t.same(config.network.knownPeers, ['a:1']);
  for (const text of ['yes', '1.5', 'true', '{"a":1}']) {
    const { message } = await problems(LEAST, { env: { NODE_FEATURES_SUPPORTED: text } });
    t.match(message, /environment: NODE_FEATURES_SUPPORTED/);
  }
});

t.test('unknown keys are warnings with a guess', async (t) => {
  const { warnings } = await read(`${LEAST} network.known-peer = []\n rest-apii.port = 1`, {
    env: { NODE_NETWORK_PROT: '1' },
  });
  const all = warnings.join('\n');
  t.match(
    all,
    /node\.conf:5: unknown setting 'network\.known-peer', did you mean 'network\.known-peers'\?/,
  );
  t.match(all, /unknown setting 'rest-apii'/);
  t.match(all, /unknown variable 'NODE_NETWORK_PROT', did you mean 'NODE_NETWORK_PORT'\?/);
});

t.test('unknown keys are told from other warnings', async (t) => {
  const { warnings, unknown } = await read(
    `${LEAST} api.rest.port = 1\n network.prot = 2
     accounts-generator { walet = x, wallet-password = y, reload-node-wallet { ulr = z }, crypto { } }
     apikeyhash-generator.key = 1`,
  );
  t.strictSame([...unknown].sort(), [
    "node.conf:6: unknown setting 'network.prot', did you mean 'network.port'?",
    "node.conf:7: unknown setting 'accounts-generator.reload-node-wallet.ulr', did you mean 'accounts-generator.reload-node-wallet.url'?",
    "node.conf:7: unknown setting 'accounts-generator.walet', did you mean 'accounts-generator.wallet'?",
    "node.conf:8: unknown setting 'apikeyhash-generator.key'",
  ]);
  t.strictSame(
    warnings.filter((one) => !unknown.includes(one)),
    ["node.conf:5: 'api.rest.port' is an older spelling of 'rest-api.port', which is preferred"],
  );
});

t.test('every wrong entry of a list, a map and an object is told', async (t) => {
  const { problems: list } = await problems(`${LEAST}
    network.known-peers = ["a", "good:1", "b:0", "c"]
    data-service.allowed-origins = ["https://a.example", "https://B.example", "http://c/"]
    blockchain.fees.base { issue = x, transfer = y }
    docker-engine.protocol-by-create-version { 1 = nothing, x = grpc, 2 = grpc, 3 = none }
    network-participants = [
      { public-key = "0", roles = [minr, miner, permisioner] }
      { roles = [miner], extra = 1, more = 2 }
    ]`);
  t.strictSame(list.map(({ key, value }) => `${key} ${value}`).sort(), [
    'blockchain.fees.base.issue "x"',
    'blockchain.fees.base.transfer "y"',
    'data-service.allowed-origins.1 "https://B.example"',
    'data-service.allowed-origins.2 "http://c/"',
    'docker-engine.protocol-by-create-version {"1":"nothing","2":"grpc","3":"none","x":"grpc"}',
    'docker-engine.protocol-by-create-version.1 "nothing"',
    'docker-engine.protocol-by-create-version.3 "none"',
    'network-participants.0.public-key "0"',
    'network-participants.0.roles.0 "minr"',
    'network-participants.0.roles.2 "permisioner"',
    ...Array(3).fill('network-participants.1 {"extra":1,"more":2,"roles":["miner"]}'),
    'network.known-peers.0 "a"',
    'network.known-peers.2 "b:0"',
    'network.known-peers.3 "c"',
  ]);
  const said = list.map(({ expected }) => expected).join();
  for (const one of [/without 'extra'/, /without 'more'/, /'public-key' is missing/, /not 'x'/]) {
    t.match(said, one);
  }
});

t.test('all errors at once, each with file, line, key, value and what to do', async (t) => {
  const { message, problems: list } = await problems(`node {
  rest-api.port = 70000
  network.known-peers = ["good:1", "bad"]
  utx.memory-limit = 1 GiX
  miner.enable = maybe
  blockchain.consensus { type = poa, round-duration = soon, max-bans-percentage = 101 }
  wallet.file = "C:\\\\node\\\\wallet.dat"
  data-directory = "/данные"
  ntp = 5
  network-participants = [ { public-key = "abc", roles = [minr] } ]
}`);
  const expected = [
    /node\.conf:2: rest-api\.port = 70000: expected an integer from 0 to 65535/,
    /node\.conf:3: network\.known-peers\.1 = "bad": expected host:port/,
    /node\.conf:4: utx\.memory-limit = "1 GiX": expected a size such as "100MiB"/,
    /node\.conf:5: miner\.enable = "maybe": expected yes or no/,
    /node\.conf:6: blockchain\.consensus\.round-duration = "soon": expected a duration such as/,
    /node\.conf:6: .*max-bans-percentage = 101: expected max-bans-percentage should be between 0 and 100/,
    /node\.conf:7: wallet\.file = .*without backslashes.*\(write "C:\/node\/wallet\.dat"\)/,
    /node\.conf:8: data-directory = .*Cyrillic/,
    /node\.conf:9: ntp = 5: a section/,
    /node\.conf:10: network-participants\.0\.roles\.0 = "minr".*Permission\.fromStr failure: unknown role name 'minr'/,
    /owner-address: is missing, it has no default/,
    /address-scheme-character: is missing/,
  ];
  for (const pattern of expected) t.match(message, pattern);
  t.equal(list.length, expected.length);
});

t.test(
  'integers above 2^53 lose nothing: quoted they count, unquoted they are refused',
  async (t) => {
    const genesis = (amount: string) =>
      `${LEAST} genesis { transactions = [ { recipient = ${OWNER}, amount = ${amount} } ] }`;
    const { config } = await read(genesis('"9007199254740993"'));
    t.equal(config.blockchain.custom.genesis.transactions[0]?.amount, 9007199254740993n);
    const exact = await read(genesis('9007199254740991'));
    t.equal(exact.config.blockchain.custom.genesis.transactions[0]?.amount, 9007199254740991n);
    const { message } = await problems(genesis('9007199254740993'));
    t.match(
      message,
      /amount = 9007199254740993: .*write it in quotes/,
      'shows the digits of the file',
    );
    const fee = await problems(`${LEAST} blockchain.fees.base.issue = 12345678901234567890`);
    t.match(fee.message, /fees\.base\.issue = 12345678901234567890: .*write it in quotes/);
    const outside = await problems(`${LEAST} genesis.initial-balance = "9223372036854775808"`);
    t.match(outside.message, /expected an amount from 0 to 9223372036854775807/);
  },
);

t.test('durations keep how they were written', async (t) => {
  const { config } = await read(
    `${LEAST} blockchain.consensus { round-duration = "1 minute", sync-duration = 1500ms }
     utx.tx-expire-timeout = 90 minutes, network.handshake-timeout = 2500`,
  );
  t.same(config.blockchain.consensus.roundDuration, { ms: 60_000, text: '1 minute' });
  t.same(config.blockchain.consensus.syncDuration, { ms: 1500, text: '1500 milliseconds' });
  t.same(config.utx.txExpireTimeout, { ms: 5_400_000, text: '90 minutes' });
  t.same(config.network.handshakeTimeout, { ms: 2500, text: '2500 milliseconds' });
  const { message } = await problems(`${LEAST} utx.tx-expire-timeout = 1m`);
  t.match(message, /from 5 minutes to 96 hours/);
});

t.test('what several settings say together', async (t) => {
  const poa = await problems(`${LEAST} blockchain.consensus.type = poa`);
  t.match(poa.message, /ntp\.fatal-timeout: is missing, and PoA requires a working clock/);
  const many = await problems(`${LEAST}
    synchronization.transaction-broadcaster { min-broadcast-count = 5, max-broadcast-count = 4 }
    rest-api.tls.cert = cert.pem
    network.handshake-check = no
    blockchain.custom.functionality.blocks-for-feature-activation = 5000`);
  t.match(many.message, /min-broadcast-count = 5: expected at most max-broadcast-count = 4/);
  t.match(many.message, /rest-api\.tls\.key: is missing/);
  t.match(many.message, /network\.handshake-check = no: expected yes/);
  t.match(many.message, /blocks-for-feature-activation = 5000: expected at most/);
  const hash = 'H6nsiifwYKYEx6YzYD7woP1XCn72RVvx6tC1zjjLXqsu';
  const loopback = await read(`${LEAST} network { handshake-check = no, bind-address = "127.0.0.1" }
    rest-api { api-key-hash = ${hash}, privacy-api-key-hash = ${hash} }`);
  t.match(loopback.warnings.join('\n'), /peers are not asked who they are/);
  t.match(loopback.warnings.join('\n'), /privacy-api-key-hash should differ/);
  const named = (key: string) =>
    `${LEAST} rest-api { api-key-hash = ${hash}, api-keys = [${key}] }`;
  const whole = await problems(named(`{ name = old, hash = ${hash}, scopes = [read] }`));
  t.match(whole.message, /api-keys = old: expected another hash than api-key-hash/);
  const other = 'A6nsiifwYKYEx6YzYD7woP1XCn72RVvx6tC1zjjLXqsu';
  const idle = await problems(named(`{ name = idle, hash = ${other}, scopes = [] }`));
  t.match(idle.message, /a scope for each key/);
});

t.test('REST answers this machine alone unless told otherwise', async (t) => {
  const unset = LEAST.replace(/^rest-api\.bind-address.*$/m, '');
  const restWarnings = (all: readonly string[]) => all.filter((one) => one.includes('rest-api.'));
  const { config, warnings } = await read(unset);
  t.equal(config.restApi.bindAddress, '127.0.0.1');
  t.match(restWarnings(warnings), [/bind-address is not set.*"0\.0\.0\.0", with rest-api\.tls/]);
  t.same(restWarnings((await read(`${unset} rest-api.enable = no`)).warnings), []);
  const env = { NODE_REST_API_BIND_ADDRESS: '127.0.0.1' };
  t.same(restWarnings((await read(unset, { env })).warnings), []);
  const open = await read(unset, { sets: ['rest-api.bind-address=0.0.0.0'] });
  t.match(restWarnings(open.warnings), [
    /= 0\.0\.0\.0 is plain HTTP beyond loopback: set rest-api/,
  ]);
});

t.test('API keys with names', async (t) => {
  const [one, two] = ['H6nsiifwYKYEx6YzYD7woP1XCn72RVvx6tC1zjjLXqsu', OWNER_KEY];
  const { config } = await read(`${LEAST} rest-api.api-keys = [
    { name = a, hash = ${one}, scopes = [read, "sign:${OWNER}"], expires = "2027-01-31" }
    { name = b, hash = ${two}, scopes = [admin] } ]`);
  t.strictSame(config.restApi.apiKeys, [
    { name: 'a', hash: one, scopes: ['read', `sign:${OWNER}`], expires: Date.UTC(2027, 0, 31) },
    { name: 'b', hash: two, scopes: ['admin'] },
  ]);
  const wrong = async (keys: string) =>
    (await problems(`${LEAST} rest-api.api-keys = [${keys}]`)).message;
  t.match(await wrong(`{ name = a, hash = ${one} }`), /'scopes' is missing/);
  t.match(
    await wrong(`{ name = a, hash = ${one}, scopes = [all] }`),
    /expected read, sign, sign:</,
  );
  t.match(await wrong(`{ name = a, hash = secret, scopes = [read] }`), /expected the Base58 hash/);
  const late = `{ name = a, hash = ${one}, scopes = [read], expires = soon }`;
  t.match(await wrong(late), /expected a date such as 2027-01-31/);
  for (const text of ['1970-01-01', '2000-02-29', '2024-12-31T23:59:59Z', '9999-03-01']) {
    t.equal(timeOfIsoDate(text), Date.parse(text), text);
  }
  const none = ['2027-02-29', '2027-13-01', '2027-01-01T24:00:00Z', '1969-12-31', '2027-1-1', ''];
  for (const text of none) t.equal(timeOfIsoDate(text), undefined, text);
  const key = (name: string, hash: string) => `{ name = ${name}, hash = ${hash}, scopes = [] }`;
  t.match(await wrong(`${key('a', one)}, ${key('a', two)}`), /no two have one name/);
  t.match(await wrong(`${key('a', one)}, ${key('b', one)}`), /no two have one hash/);
});

t.test('a call of a contract ends within a round', async (t) => {
  const engine = (timeout: string) =>
    `\n docker-engine { enable = yes, execution-limits.timeout = ${timeout} }`;
  const poa = `${LEAST} ntp.fatal-timeout = 5m
    blockchain.consensus { type = poa, round-duration = 2s, sync-duration = 1s }`;
  const { message } = await problems(`${poa} ${engine('2s')}`);
  t.match(message, /timeout = .*: expected less than blockchain\.consensus\.round-duration/);
  t.equal((await read(`${poa} ${engine('1999ms')}`)).config.dockerEngine.enable, true);
  const pos = `${LEAST} genesis.average-block-delay = 4s`;
  const late = await problems(`${pos} ${engine('4s')}`);
  t.match(late.message, /expected less than blockchain\.custom\.genesis\.average-block-delay/);
  t.equal((await read(`${pos} ${engine('3s')}`)).config.dockerEngine.enable, true);
});

t.test('a storage of confidential data has what its vendor needs', async (t) => {
  const storage = (text: string) => `${LEAST} privacy.storage { ${text} }`;
  const s3 = await problems(storage('vendor = s3'));
  for (const key of ['url', 'bucket', 'access-key-id', 'secret-access-key']) {
    t.match(s3.message, `privacy.storage.${key}: is missing (vendor s3 needs it)`);
  }
  const postgres = await problems(storage('vendor = postgres'));
  t.match(postgres.message, 'privacy.storage.url: is missing (vendor postgres needs it)');
  const other = await problems(storage('vendor = postgres, url = "mysql://u:hunter2@db/node"'));
  t.match(other.message, /url: is not an address of this vendor \(for example: postgres:/);
  for (const url of ['postgres://u:hunter2@db/node', 'jdbc:postgresql://db/n?password=hunter2']) {
    const open = await problems(storage(`vendor = postgres, url = "${url}"`));
    t.match(open.message, /url: expected an address without user and password/);
    t.notMatch(open.message + other.message, /hunter2/);
  }
  const url = 'jdbc:postgresql://db.example.org:5432/node';
  const { config } = await read(storage(`vendor = postgres, url = "${url}", user = node`));
  t.equal(config.privacy.storage.url, url);
  t.equal((await read(storage('vendor = file'))).config.privacy.storage.vendor, 'file');
  for (const vendor of ['none', 'file']) {
    const unused = await read(storage(`vendor = ${vendor}, url = "postgres://u:hunter2@db/node"`));
    const shown = [effectiveSettings(unused.config), [...unused.origins], unused.warnings];
    t.notMatch(JSON.stringify(shown), /hunter2/, vendor);
  }
});

t.test('secrets are never shown', async (t) => {
  const wrong = await problems(`${LEAST} wallet.password = 12.50\n rest-api.port = x`);
  t.match(wrong.message, /wallet\.password: expected a text \(write it in double quotes\)/);
  t.notMatch(wrong.message, /12\.5/);
  const { config, origins } = await read(`${LEAST} wallet.password = "hunter2"`);
  t.equal(config.wallet.password, 'hunter2');
  t.equal(effectiveSettings(config)['wallet.password'], '***');
  t.notMatch(JSON.stringify([effectiveSettings(config), [...origins]]), /hunter2/);
});

t.test('a secret may come from a file', async (t) => {
  const readSecret = (path: string) => (path === '/run/pw' ? 'from file\n' : undefined);
  const { config } = await read(`${LEAST} wallet.password-file = "/run/pw"`, { readSecret });
  t.equal(config.wallet.password, 'from file');
  const home = await read(`${LEAST} wallet.password-file = "~/pw"`, {
    home: '/run',
    readSecret,
  });
  t.equal(home.config.wallet.password, 'from file');
  const missing = await problems(`${LEAST} wallet.password-file = "/none"`, { readSecret });
  t.match(missing.message, /wallet\.password-file = \/none: the file cannot be read/);
  const both = await problems(`${LEAST} wallet { password = "a", password-file = "/run/pw" }`, {
    readSecret,
  });
  t.match(both.message, /another spelling of the same setting/);
});

t.test('texts of node.md#start', async (t) => {
  const { message } = await problems('akka { x = 1 }');
  t.match(message, /^Provided configuration file doesn't contain 'node' path/);
  const open = await problems('node { network { port = 1 }}\n}');
  t.match(open.message, /^Failed to parse config:\n {2}node\.conf:2: brackets: unexpected '}'/);
});

t.test('the example names every setting and its defaults are the defaults', async (t) => {
  const example = exampleConfig();
  for (const { key } of allSettings) {
    const name = key.split('.').at(-1)!;
    t.ok(example.includes(`# ${name} =`), key);
  }
  const uncommented = example.replace(/^( *)# ([a-z0-9-]+ = .+)$/gm, '$1$2');
  const { config } = await read(
    `${uncommented}\nowner-address = ${OWNER}\naddress-scheme-character = T`,
  );
  const { config: defaults } = await read(LEAST);
  t.same(effectiveSettings(config), effectiveSettings(defaults));
  t.notSame(uncommented, example);
});

t.test('no two settings share a variable or a key', async (t) => {
  t.equal(new Set(allSettings.map(({ env }) => env)).size, allSettings.length);
  const { config } = await read(LEAST);
  for (const { key, setting } of allSettings) {
    const present = setting.presence !== 'optional';
    t.equal(valueAt(config, key) !== undefined, present, key);
  }
});

t.test('what nodes of a network share', async (t) => {
  const { config } = await read(LEAST);
  const shared = networkSettings(config);
  const same = networkSettings((await read(`${LEAST} network.port = 1`)).config);
  t.same(shared, same, 'a port is a private matter');
  t.same(
    networkSettings((await read(`${LEAST} blockchain.consensus.round-duration = 17000ms`)).config),
    shared,
    'spelling does not matter',
  );
  const other = await read(`${LEAST} blockchain.fees.base.transfer = 5`);
  t.notSame(networkSettings(other.config), shared);
  t.equal(shared.txExpireTimeoutMs, 7_200_000);
  const rules = chainRules(config, allTypes);
  t.equal(rules.fees.base.get(4), 1_000_000n);
  t.equal(rules.fees.base.get(114), 5_000_000n);
  t.equal(rules.fees.base.size, 22, 'every fee of the table belongs to a type');
  t.equal(rules.fees.additional.get(12), 1_000_000n);
});

t.test('a vote for finality needs a period of twice max-rollback', async (t) => {
  const custom = (period: number, more = '') =>
    `${LEAST} ntp.fatal-timeout = 5m, blockchain.consensus.type = poa, features.supported = [1004]
    blockchain.custom.functionality {
      feature-check-blocks-period = ${period}, blocks-for-feature-activation = 3 ${more} }`;
  const { message } = await problems(custom(199));
  t.match(
    message,
    /synchronization.max-rollback.*feature-check-blocks-period = 199.*at most 99 on all/s,
  );
  await t.resolves(read(custom(200)));
  await t.resolves(read(custom(199).replace('type = poa', 'type = pos')), 'without effect there');
  await t.resolves(read(custom(199, ', pre-activated-features = { 1004 = 0 }')));
});

t.test('a signer over the network needs certificates, and has one place', async (t) => {
  const host = `${LEAST} signer.host = "10.0.0.5"`;
  const some = `${host}, signer.tls { cert = "/a", key = "/b" }`;
  const about = async (text: string): Promise<string> => (await problems(text)).message;
  t.match(await about(host), /signer\.tls\.cert[\s\S]*signer\.tls\.key[\s\S]*signer\.tls\.ca/);
  t.match(await about(some), /signer\.tls\.ca: is missing/);
  const both = `${some}, signer.tls.ca = "/c", signer.socket = "/d"`;
  t.match(await about(both), /expected either socket or host/);
  const { config } = await read(`${some}, signer.tls.ca = "/c"`);
  t.match(config.signer, { host: '10.0.0.5', port: 6870, types: [105, 114, 120] });
});

t.test('values with which a node would harm itself or its peers', async (t) => {
  const wrong: readonly [text: string, expected: RegExp][] = [
    [`network.node-name = ${'ё'.repeat(64)}`, /a name of at most 127 bytes/],
    ['network.peers-request-interval = 900ms', /a duration of at least 10s/],
    ['network.break-idle-connections-timeout = 0', /a duration of at least 1s/],
    ['network.attempt-connection-delay = 0', /a duration of at least 100ms/],
    ['ntp.expiration-timeout = 0', /a duration of at least 100ms/],
    ['ntp.max-deviation = 0', /a duration of at least 1s/],
    ['synchronization.synchronization-timeout = 100ms', /a duration of at least 5s/],
    ['synchronization.score-ttl = 20s', /a duration of at least 45s/],
    ['synchronization.transaction-broadcaster.max-batch-size = 1', /an integer from 50/],
    ['miner.max-block-size-in-bytes = 0', /at least 1024 bytes/],
    ['utx.memory-limit = 1GiB', /at most 943718400 bytes/],
    ['utx.rebroadcast-interval = 1s', /a duration of at least 1m/],
    ['docker-engine.execution-limits.timeout = 0', /a duration of at least 10ms/],
    ['docker-engine.execution-limits.startup-timeout = 0', /a duration of at least 1s/],
    ['docker-engine.pull-timeout = 0', /a duration of at least 1s/],
    ['docker-engine.image-size-max = 0', /at least 1048576 bytes/],
    ['docker-engine.image-quota = 0', /at least 1048576 bytes/],
    ['privacy.replier.parallelism = 1000', /an integer from 1 to 200/],
    [
      'docker-engine { enable = yes, contract-auth-expires-in = 4s }',
      /contract-auth-expires-in = 4 seconds: expected at least execution-limits.timeout = 5 seconds/,
    ],
  ];
  for (const [text, expected] of wrong) {
    t.match((await problems(`${LEAST} ${text}`)).message, expected, text);
  }
  const { warnings } = await read(`${LEAST} network.break-idle-connections-timeout = 20s`);
  t.match(warnings.join(), /break-idle-connections-timeout = 20 seconds: other nodes/);
  const large = await read(`${LEAST} miner.max-block-size-in-bytes = 64MiB`);
  t.match(large.warnings.join(), /max-block-size-in-bytes = 67108864 is more than 33554432/);
  const pos = await read(`${LEAST} genesis.average-block-delay = 3s`);
  t.match(pos.warnings.join(), /average-block-delay = 3 seconds: no block comes within 5 seconds/);
  const poor = `${LEAST} genesis.transactions = [{ recipient = "3MuZtp1u3EXWo228F211XHSu4Jv8Nr9keKz", amount = 999 }]`;
  t.notMatch(pos.warnings.join(), /10,000 tokens/);
  t.match((await read(poor)).warnings.join(), /no account gets the 10,000 tokens/);
});

t.test('too few undo records for branches that votes decide between', async (t) => {
  const warned = async (depth: number, features: string, supported: readonly number[] = []) =>
    (
      await read(`
        ${LEAST}
        storage.max-rollback-depth = ${depth}
        features.supported = [${supported}]
        blockchain.custom.functionality.pre-activated-features { ${features} }`)
    ).warnings.filter((one) => one.includes('max-rollback-depth')).length;
  t.equal(await warned(499, '1004 = 0'), 1);
  t.equal(await warned(500, '1004 = 0'), 0);
  t.equal(await warned(499, ''), 0, 'nothing votes');
  t.equal(await warned(499, '', [1004]), 1, 'it will vote');
  t.equal(await warned(499, '', [1003]), 0);
});
