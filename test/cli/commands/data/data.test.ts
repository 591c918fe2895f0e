// What the commands leave in a database, and how a crawler that needs an operator ends: exit code,
// and one line that says what to do.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readerOf } from '../../../../src/cli/commands/data/run-data-service.ts';
import { loadDataConfig } from '../../../../src/cli/config-file.ts';
import { EXIT } from '../../../../src/cli/terminal/exit.ts';
import { migrate, SCHEMA_VERSION } from '../../../../src/data-service/schema/migrate.ts';
import { crawl } from '../../../data-service/crawling.ts';
import { type MadeChain, madeChain } from '../../../data-service/made-chain.ts';
import { madeNode } from '../../../data-service/made-node.ts';
import { postgresCluster } from '../../../data-service/stores.ts';
import { startCommand } from '../../../system/e2e/process.ts';
import { lines, run } from '../../run.ts';

const cluster = await postgresCluster(t);
const MAX_ROLLBACK = 20;

const grown = (seed: string): MadeChain => {
  const chain = madeChain({ seed, txsPerBlock: 3, accounts: 10 });
  chain.grow(50);
  return chain;
};

t.test('data crawl', { skip: cluster.skip }, async (t) => {
  const chain = grown('cli');
  const node = await madeNode(t, () => chain);
  const url = await cluster.createDatabase();
  const db = cluster.open(url);
  t.teardown(() => db.close());
  await migrate(db, { indexText: true });
  const crawler = crawl(t, db, [node.url]);
  await crawler.reached(51, chain.signature(51));

  const crawlOf = (nodeUrl: string, verb: 'crawl' | 'start') => {
    const settings = [
      `node-url=${nodeUrl}`,
      `database-url=${url}`,
      `max-rollback=${MAX_ROLLBACK}`,
      'poll-interval=50ms',
      'port=0',
    ];
    return run(['data', verb, ...settings.flatMap((one) => ['--set', `data-service.${one}`])]);
  };
  const check = async (
    name: string,
    nodeUrl: string,
    code: number,
    message: RegExp,
    verb: 'crawl' | 'start' = 'crawl',
  ) => {
    const ended = await crawlOf(nodeUrl, verb);
    t.equal(ended.code, code, name);
    t.match(lines(ended.stderr).at(-1), message, name);
  };

  const locked = /another crawler writes to this database/;
  await check('a second crawler', node.url, EXIT.locked, locked);
  await check('a second one with an interface', node.url, EXIT.locked, locked, 'start');
  await crawler.stop();

  const stranger = await madeNode(t, () => grown('another network'));
  const other = /different network: its first block is \w+, the stored one \w+\. Set node-url/;
  await check('another network', stranger.url, EXIT.failure, other);

  chain.reorganise(MAX_ROLLBACK + 1, MAX_ROLLBACK + 5);
  const deep = /for more than 20 blocks below height 51 \(max-rollback\).*'data rollback --to/;
  await check('a deep reorganisation', node.url, EXIT.failure, deep);
  const [stored] = await db.query('SELECT max(height) AS height FROM blocks');
  t.strictSame(stored, { height: 51 }, 'nothing is removed');
});

t.test('data migrate makes the role of the servers', { skip: cluster.skip }, async (t) => {
  const url = await cluster.createDatabase();
  const migrated = async (...more: string[]) => {
    const settings = [`database-url=${url}`, 'reader-role=the_servers', ...more];
    const set = settings.flatMap((one) => ['--set', `data-service.${one}`]);
    const { code, stderr, stdout } = await run(['data', 'migrate', ...set]);
    t.equal(code, EXIT.ok, stderr);
    return JSON.parse(stdout);
  };
  t.strictSame(await migrated(), { from: 0, to: SCHEMA_VERSION });
  const reader = cluster.open(url.replace(/\/\/\w+@/, '//the_servers@'));
  t.teardown(() => reader.close());
  t.strictSame(await reader.query('SELECT height FROM blocks'), []);
  await t.rejects(reader.query('DELETE FROM blocks'), /permission denied/);

  const again = await migrated('reader-password=a password');
  t.strictSame(again, { from: SCHEMA_VERSION, to: SCHEMA_VERSION });
  const owner = cluster.open(url);
  t.teardown(() => owner.close());
  const [role] = await owner.query(
    `SELECT rolsuper, rolpassword FROM pg_authid WHERE rolname = 'the_servers'`,
  );
  t.match(role, { rolsuper: false, rolpassword: /^SCRAM/ }, 'tables that are there change nothing');
});

t.test('no statement has the password of the servers', async (t) => {
  const path = join(t.testdir({ 'data.conf': '' }), 'data.conf');
  const role = ['reader-role=servers', 'reader-password=a password'];
  const set = role.map((one) => `data-service.${one}`);
  const { dataService } = await loadDataConfig(path, { set }, false);
  t.match(readerOf(dataService), { name: 'servers', secret: /^SCRAM-SHA-256\$/ });
});

t.test('a mistyped folder is named, and not made', async (t) => {
  const folder = join(t.testdir(), 'data-servcie');
  const url = `data-service.database-url=pglite:${folder}`;
  for (const words of [['verify'], ['status'], ['migrate', '--check'], ['rollback', '--to=1']]) {
    const stderr = `there is no database in ${folder}`;
    t.match(await run(['data', ...words, '--set', url]), { code: 1, stdout: '', stderr });
  }
  t.notOk(existsSync(folder));
});

t.test('a server whose database is away says so', async (t) => {
  const settings = ['database-url=postgres://nobody@127.0.0.1:1/data', 'port=0'];
  const set = settings.flatMap((one) => ['--set', `data-service.${one}`]);
  const server = startCommand(t, ['data', 'serve', ...set]);
  t.match(await server.line('stderr', /"data\.store-failed"/), /ECONNREFUSED/);
});

t.test('a database without tables', { skip: cluster.skip }, async (t) => {
  const url = `data-service.database-url=${await cluster.createDatabase()}`;
  const verified = await run(['data', 'verify', '--set', url]);
  t.match(verified, {
    code: 1,
    stdout: '',
    stderr: /^there are no tables in the database.* data start$/m,
  });
  t.match(await run(['data', 'status', '--set', url]), {
    code: 0,
    stdout: '{"schemaVersion":0}\n',
  });
});

t.test('a database that cannot be used', { skip: cluster.skip }, async (t) => {
  const url = await cluster.createDatabase();
  const admin = cluster.open(url);
  t.teardown(() => admin.close());
  const asOther = url.replace(/\/\/\w+@/, '//other@');
  const migrated = (name: string, own = url, ...more: string[]) =>
    run(['data', 'migrate', ...more, '--set', `data-service.database-url=${own}`]).then(
      ({ code, stderr }) => ({ name, code, stderr }),
    );
  const refused = async (name: string, stderr: RegExp, ...given: string[]) =>
    t.match(await migrated(name, ...given), { code: EXIT.failure, stderr }, name);

  await refused('no such role', /"other".*\(data-service\.database-url\); correct user/, asOther);
  const absent = url.replace(/\/data\d+\?/, '/absent?');
  await refused('no such database', /"absent".*\(data-service\.database-url\); make the/, absent);
  await admin.exec('CREATE ROLE other LOGIN');
  await refused(
    'no rights',
    /denied.*\(data-service\.database-url\); a crawler needs the owner/,
    asOther,
  );
  const away = 'postgres://other@127.0.0.1:1/data';
  await refused('no server', /ECONNREFUSED.*\(data-service\.database-url\); start the/, away);

  const unmade = `${url}&options=${encodeURIComponent('-c search_path=unmade')}`;
  await refused('no such schema', /\(data-service\.database-url\); make the schema/, unmade);
  const noFile = 'postgres://other@127.0.0.1:1/data?sslrootcert=/nonexistent';
  await refused('no file', /ENOENT.*\(data-service\.database-url\); correct the path/, noFile);
  await admin.exec('CREATE TABLE meta (a integer)');
  await refused('tables of others', /database-url\); another program has a table of that name/);
  await admin.exec('DROP TABLE meta; CREATE TABLE blocks (a integer)');
  await refused('a table of others', /database-url\); another program has a table of that name/);
  await admin.exec('DROP TABLE blocks');
  t.match(await migrated('alone'), { code: EXIT.ok });

  const [{ name } = { name: '' }] = await admin.query<{ name: string }>(
    'SELECT current_database() AS name',
  );
  await admin.exec(
    `ALTER DATABASE ${name} OWNER TO other; GRANT ALL ON ALL TABLES IN SCHEMA public TO other`,
  );
  const reader = ['--set', 'data-service.reader-role=unmade'];
  await refused(
    'roles',
    /denied.*\(data-service\.reader-role\); let the owner/,
    asOther,
    ...reader,
  );
  await admin.exec('DROP TABLE tx_aliases');
  const lacking = /lacks the tables tx_aliases \(data-service\.database-url\); restore it/;
  await refused('a dropped table', lacking);
  await refused('a dropped table, looked for', lacking, url, '--check');
});

t.test('a server of a database without tables says so', { skip: cluster.skip }, async (t) => {
  const settings = [`database-url=${await cluster.createDatabase()}`, 'port=0'];
  const set = settings.flatMap((one) => ['--set', `data-service.${one}`]);
  const server = startCommand(t, ['data', 'serve', ...set]);
  t.match(await server.line('stderr', /"data\.store-failed"/), /database-url\): run data migrate/);
});
