// genesis sign|show|verify with the real command: scenarios 1 (content), 2, 3, 4 and 7.
import { readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { jsonLines, run } from '../run.ts';

async function accounts(count: number): Promise<(readonly [key: string, address: string])[]> {
  const input = Array.from({ length: count }, (_, i) => `phrase ${i}\n`).join('');
  const { stdout } = await run(['keystore', 'derive', '--chain-id', 'T'], { input });
  return jsonLines(stdout).map((line) => [String(line['publicKey']), String(line['address'])]);
}

const ROLES = ['[permissioner, miner, connection_manager]', '[miner]', '[]'];

function config(
  people: readonly (readonly [string, string])[],
  balance: number,
  roles = ROLES,
): string {
  const transactions = people.map(
    ([, address]) => `      {recipient: "${address}", amount: 100}, # gift`,
  );
  const participants = people.map(
    ([key], i) => `      {public-key: "${key}", roles: ${roles[i] ?? '[]'}}`,
  );
  return `# keep me
node {
  owner-address = "${people[0]?.[1]}"   // and me
  blockchain.consensus.type = poa
  ntp { servers = [], fatal-timeout = 5m }
  blockchain.custom {
    address-scheme-character = "T"
    genesis {
      signature   :  ""      # filled
      genesis-public-key-base-58 = ""
      block-timestamp = 0
      initial-balance = ${balance}
      transactions = [\n${transactions.join('\n')}\n      ]
      network-participants = [\n${participants.join('\n')}\n      ]
    }
  }
}
`;
}

t.test('a founder who takes the features of new networks hears nothing of them', async (t) => {
  const dir = t.testdir({});
  const [missing, file] = [join(dir, 'before.conf'), join(dir, 'node.conf')];
  const text = config(await accounts(3), 300);
  writeFileSync(missing, text);
  const { stderr } = await run(['genesis', 'sign', missing]);
  const line = /blockchain\.custom\.functionality\.pre-activated-features = \{.*\}/.exec(
    stderr,
  )?.[0];
  writeFileSync(file, `${text.trimEnd().slice(0, -1)}  ${line}\n}\n`);
  const signed = await run(['genesis', 'sign', file]);
  t.equal(signed.code, 0, signed.stderr);
  t.notMatch(signed.stderr, /founded without/);
});

t.test('signing', async (t) => {
  const dir = t.testdir({});
  const file = join(dir, 'node.conf');
  const people = await accounts(3);
  const before = config(people, 300);
  writeFileSync(file, before, { mode: 0o640 });
  const signed = await run(['GenesisBlockGenerator', file]);
  t.equal(signed.code, 0, signed.stderr);
  t.match(signed.stderr, /founded without 119 .*, 1000 \(Metering of scripts\)/);
  const old = readdirSync(dir).find((name) => name !== 'node.conf') ?? '';
  t.match(old, /^node\.conf\.old\.\d\d-\d\d-\d{4}\.\d\d-\d\d-\d\d$/);
  t.equal(
    signed.stdout,
    `Genesis signed successfully!\nNew configuration file: ${file}\n` +
      `Old configuration saved to: ${join(dir, old)}\n`,
  );
  t.equal(readFileSync(join(dir, old), 'utf8'), before);
  t.equal(statSync(file).mode & 0o777, 0o640, 'its permissions stay');

  const after = readFileSync(file, 'utf8').split('\n');
  const changed = before.split('\n').flatMap((line, i) => (line === after[i] ? [] : [after[i]]));
  t.equal(changed.length, 3);
  t.match(changed[0], /^ {6}signature {3}: {2}"[1-9A-HJ-NP-Za-km-z]{86,88}" {6}# filled$/);
  t.match(changed[1], /^ {6}genesis-public-key-base-58 = "[1-9A-HJ-NP-Za-km-z]{42,44}"$/);
  t.match(changed[2], /^ {6}block-timestamp = \d{13}$/);
  const T = Number(/\d+/.exec(changed[2] ?? '')?.[0]);
  t.ok(Math.abs(Date.now() - T) < 60_000);

  const [block] = jsonLines((await run(['genesis', 'show', file])).stdout);
  const list = block?.['transactions'] as Record<string, unknown>[];
  t.same(
    list.map(({ type }) => type),
    [1, 1, 1, 110, 101, 101, 101, 110, 101, 110],
  );
  t.same(
    list.filter(({ type }) => type === 101).map(({ role, timestamp }) => [role, timestamp]),
    [
      ['permissioner', T - 1],
      ['miner', T - 2],
      ['connection_manager', T - 3],
      ['miner', T - 4],
    ],
  );
  t.same(
    list.slice(0, 3).map(({ recipient }) => recipient),
    people.map(([, address]) => address),
  );
  const verified = await run(['genesis', 'verify', file]);
  t.equal(verified.code, 0);
  t.match(verified.stdout, /"valid":true/);

  writeFileSync(
    file,
    after.join('\n').replace('amount: 100}', 'amount: 101}').replace('= 300', '= 301'),
  );
  const edited = await run(['genesis', 'verify', file]);
  t.equal(edited.code, 1);
  t.match(edited.stderr, /Passed genesis signature is not valid/);
  const check = await run(['config', 'check', file]);
  t.equal(check.code, 1);
  t.match(check.stdout, /Passed genesis signature is not valid/);
});

t.test('what is signed is signed again with --force only', async (t) => {
  const dir = t.testdir({});
  const file = join(dir, 'node.conf');
  writeFileSync(file, config(await accounts(3), 300));
  const { code, stdout } = await run(['genesis', 'sign', file]);
  t.equal(code, 0);
  const signed = readFileSync(file, 'utf8');
  t.match(jsonLines(stdout), [{ file, signature: String, publicKey: String, timestamp: Number }]);
  const signature = /signature\s*:\s*"(\w+)"/.exec(signed)?.[1];
  const before = readdirSync(dir);
  for (const words of [['genesis', 'sign'], ['GenesisBlockGenerator']]) {
    const { code, stdout, stderr } = await run([...words, file]);
    t.equal(code, 1);
    t.equal(stdout, '');
    t.match(stderr, `is signed already, with the signature ${signature}`);
    t.match(stderr, '--force');
    t.equal(readFileSync(file, 'utf8'), signed);
    t.same(readdirSync(dir), before, 'no further .old file');
  }
  // The copies of one second would have one name.
  renameSync(join(dir, before.find((name) => name !== 'node.conf')!), join(dir, 'first.old'));
  const forced = await run(['genesis', 'sign', file, '--force']);
  t.equal(forced.code, 0, forced.stderr);
  t.not(readFileSync(file, 'utf8'), signed);
  t.equal((await run(['genesis', 'verify', file])).code, 0);
});

t.test('what cannot be signed is not touched', async (t) => {
  const dir = t.testdir({});
  const file = join(dir, 'node.conf');
  const refused = async (text: string, message: string | RegExp) => {
    writeFileSync(file, text);
    const { code, stdout, stderr } = await run(['genesis', 'sign', file]);
    t.equal(code, 1);
    t.equal(stdout, '');
    t.match(stderr, message);
    t.equal(readFileSync(file, 'utf8'), text);
    t.same(readdirSync(dir), ['node.conf'], 'no .old file');
  };
  const people = await accounts(3);
  const sum = "The value of 'initial-balance' has to be equal to the sum of transactions amounts";
  await refused(config(people, 299), `[${sum}]`);
  const twice = config([people[0]!, people[1]!, people[0]!], 300, ['[miner, connection_manager]']);
  await refused(
    twice,
    `[The following network participants are duplicated: '[${people[0]?.[0]}]',` +
      "At least one network participant must have the 'permissioner' role]",
  );
  const crowd = await accounts(128);
  await refused(
    config(crowd, 12_800, [ROLES[0]!]),
    "Too much transactions for genesis block: found '259', max count '127'",
  );
  await refused('node { owner-address = x }', /address-scheme-character: is missing/);
});

t.test('usage', async (t) => {
  t.match((await run(['genesis', 'sign'])).stderr, /^Specify path to .* configuration file/);
  const missing = await run(['GenesisBlockGenerator', '/no/such.conf']);
  t.equal(missing.code, 1);
  t.equal(missing.stderr, "Configuration file '/no/such.conf' does not exist!\n");
});
