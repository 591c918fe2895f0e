// Settings of the data service: every problem at once, and none with a secret in it.
import t from 'tap';
import { ConfigError, type Problem } from '../../../src/node/config/problems.ts';
import { readDataConfig } from '../../../src/node/config/read.ts';

const HASH = '9LqPnmJQmvG1yUPu4tUvQGzWTXYoqYbFqRJgrmYPpWbB';

const read = (sets: readonly string[], serves = true) =>
  readDataConfig(
    {
      file: 'data.conf',
      text: '',
      tree: {},
      env: {},
      sets: sets.map((one) => `data-service.${one}`),
      home: '/home/me',
      nonce: 0,
      readSecret: () => undefined,
    },
    serves,
  ).dataService;

const problems = (sets: readonly string[], serves = true): string[] =>
  problemsOf(sets, serves).map(({ key, expected }) => `${key}: ${expected}`);

function problemsOf(sets: readonly string[], serves: boolean): readonly Problem[] {
  try {
    read(sets, serves);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems;
  }
}

t.test('a wrong value has the source that gave it', async (t) => {
  const found = problemsOf(['database-url=mysql://host/x', 'bind-address=0.0.0.0'], true);
  t.strictSame(
    found.map(({ source, key }) => `${source}: ${key}`),
    ['--set: data-service.database-url', 'data.conf: data-service.auth'],
  );
});

t.test('an address of PostgreSQL that no client can read is said before the start', async (t) => {
  const wrong = 'data-service.database-url: is no address that can be read';
  for (const url of [
    'postgres://u:hidden/x@host/data',
    'postgres://u:hidden#x@host/data',
    'postgres://u:hidden?x@host/data',
    'postgres://host:99999/data',
  ]) {
    const found = problemsOf([`database-url=${url}`], false);
    t.strictSame(
      found.map(({ key, expected }) => `${key}: ${expected}`),
      [wrong],
      url,
    );
    t.notMatch(JSON.stringify(found), /hidden/);
  }
  for (const url of [
    'postgres://u:p%2Fx@host:5432/data?sslmode=verify-full',
    'postgresql:///data?host=/var/run/postgresql',
    'postgres://u:p@/data?host=/var/run/postgresql',
    'postgres://u:p%x@host/data',
    'postgres://u:p@host/data?options=-c%20search_path%3Ddata',
  ]) {
    t.strictSame(problems([`database-url=${url}`], false), [], url);
  }
});

t.test('an empty password would remove that of the role', async (t) => {
  const empty = problems(['reader-role=reader', 'reader-password='], false);
  t.strictSame(empty, ['data-service.reader-password: is empty']);
  t.strictSame(problems(['reader-role=reader', 'reader-password= '], false), []);
});

t.test('a role that PostgreSQL keeps for itself', async (t) => {
  for (const role of ['pg_reader', 'public', 'none', '', 'r'.repeat(64)]) {
    const [found, ...more] = problems([`reader-role=${role}`], false);
    t.match(found, /^data-service\.reader-role: .*the name of a role of PostgreSQL/, role);
    t.strictSame(more, []);
  }
  t.strictSame(problems(['reader-role=Rôle'], false), []);
});

t.test('the defaults open nothing', async (t) => {
  const config = read([]);
  t.strictSame(config.allowedOrigins, []);
  t.match(config, {
    bindAddress: '127.0.0.1',
    port: 6866,
    auth: 'none',
    rateLimit: 20,
    rateBurst: 40,
  });
});

t.test('all at once', async (t) => {
  const found = problems([
    'node-url=ftp://node',
    'trusted-proxies=front.example',
    'allowed-origins=https://a.example/',
    'poll-interval=0',
    'statement-timeout=0',
    'max-streams=-1',
  ]);
  t.equal(found.length, 6);
  t.strictSame(
    problems(['node-url=', 'database-url=mysql://user:hidden@host/x', 'tls.cert=/a', 'auth=proxy']),
    [
      'data-service.node-url: expected at least one URL',
      'data-service.database-url: expected postgres://… or pglite:<folder>',
      'data-service.tls.key: is missing',
      'data-service.trusted-proxies: expected an address, since auth = proxy',
    ],
  );
});

t.test('nothing is open to everyone by mistake', async (t) => {
  t.match(problems(['bind-address=0.0.0.0']), [/auth: expected api-key or proxy: on 0\.0\.0\.0/]);
  t.strictSame(problems(['bind-address=0.0.0.0'], false), [], 'a crawler opens nothing');
  t.strictSame(problems(['bind-address=0.0.0.0', 'allow-unauthenticated=yes']), []);
  t.match(problems(['auth=api-key']), [/api-key-hashes: expected a hash/]);
  const keyed = ['bind-address=0.0.0.0', 'auth=api-key', `api-key-hashes=${HASH},${HASH}`];
  t.strictSame(problems(keyed), []);
  t.strictSame(read(['auth=proxy', 'trusted-proxies=10.0.0.7,fd00::/8']).trustedProxies, [
    '10.0.0.7',
    'fd00::/8',
  ]);
});

t.test('origins', async (t) => {
  const of = (text: string) => read([`allowed-origins=${text}`]).allowedOrigins;
  t.strictSame(of('*'), ['*']);
  t.strictSame(of('https://a.example,http://b.example:8080'), [
    'https://a.example',
    'http://b.example:8080',
  ]);
  const wrong = [
    ...['https://a.example/', 'https://A.example', 'https://a.example:443', 'a.example', 'null'],
    ...['ftp://a.example', 'https://a.example,*', 'https://*.example', 'https://a.example/path'],
  ];
  for (const text of wrong) t.equal(problems([`allowed-origins=${text}`]).length, 1, text);
});
