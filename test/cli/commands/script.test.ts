// Scripts in pipelines, without a node.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { base58 } from '../../../src/base/base58.ts';
import { stringify } from '../../../src/base/json/json.ts';
import { buildTx } from '../../../src/tx/assemble.ts';
import { txToJson } from '../../../src/tx/json/encode.ts';
import { transfer } from '../../../src/tx/types/004-transfer.ts';
import { seededRandom } from '../../crypto/random.ts';
import { family, scheme } from '../../generators/network.ts';
import { jsonLines, run } from '../run.ts';

const vectors = join(import.meta.dirname, '../../vectors/scripts.json');
const script = (words: readonly string[], input = '') => run(['script', ...words], { input });

t.test('compile, estimate, decompile and compile again', async (t) => {
  const source =
    'let a = 1 # one\nmatch tx { case t: TransferTransaction => t.amount > a case _ => true }';
  const compiled = await script(['compile', '-'], source);
  t.match(compiled, { code: 0, stderr: '' });
  const [answer] = jsonLines(compiled.stdout);
  t.match(answer, { script: /^base64:/, complexity: 32, extraFee: 400_000 });
  const base64 = String(answer?.['script']);
  t.match(jsonLines((await script(['estimate'], `${base64}\n`)).stdout), [
    { script: base64, scriptText: /^BLOCK\(LET\(a,CONST_LONG\(1\)\)/, complexity: 32 },
  ]);
  const decompiled = await script(['decompile'], base64);
  t.match(decompiled.stdout, 'case t: TransferTransaction => t.amount > a');
  t.equal((await script(['compile'], decompiled.stdout)).stdout, compiled.stdout);
});

t.test('refusals are JSON', async (t) => {
  const refused = await script(['compile', '-'], 'x == 1');
  t.equal(refused.code, 1);
  const error = "Typecheck failed: A definition of 'x' is not found";
  t.strictSame(jsonLines(refused.stdout), [{ error }]);
  t.equal(refused.stderr, `${error}\n`, 'for who sends stdout to a file');
  t.strictSame(jsonLines((await script(['estimate'], 'AQa3bstH')).stdout), [
    { error: 'Invalid checksum' },
  ]);
  t.match(await script(['decompile'], '!'), { code: 1, stdout: /Unable to decode base64/ });
});

t.test('eval runs a script on a transaction', async (t) => {
  const dir = t.testdir();
  const keys = family.keyPairFromPhrase('somebody');
  const address = scheme.addressOf(keys.publicKey);
  const layout = transfer.layouts[1]!;
  const fields = {
    senderPublicKey: keys.publicKey,
    timestamp: 1,
    amount: 5n,
    fee: 1n,
    recipient: { kind: 'address', bytes: address } as const,
    attachment: new Uint8Array(0),
  };
  const { body } = buildTx(transfer, layout, fields, [], scheme);
  const proof = family.sign(keys.privateKey, body, seededRandom('x'));
  const file = join(dir, 'tx.json');
  writeFileSync(
    file,
    stringify(txToJson(buildTx(transfer, layout, fields, [proof], scheme) as never, scheme)),
  );
  const state = join(dir, 'state.json');
  const entries = { [base58.encode(address)]: { limit: { int: '5' } } };
  writeFileSync(state, JSON.stringify({ data: entries }));
  const source = `let limit = extract(getInteger(tx.sender, "limit"))
    match tx { case t: TransferTransaction => t.amount <= limit && height == 7 case _ => false }
      && sigVerify(tx.bodyBytes, tx.proofs[0], tx.senderPublicKey)`;
  const words = ['eval', '-', '--tx', file, '--state', state, '--chain-id', 'T', '--height'];
  const permitted = await script([...words, '7'], source);
  t.match(permitted, { code: 0, stderr: '' });
  const [outcome] = jsonLines(permitted.stdout);
  t.equal(outcome?.['result'], true);
  t.ok(Number(outcome?.['units']) > 2000, 'what it consumed');
  const vars = outcome?.['vars'] as { readonly name: string; readonly value: string }[];
  t.strictSame(
    vars.find(({ name }) => name === 'limit'),
    { name: 'limit', value: 'CONST_LONG(5)' },
  );
  const denied = await script([...words, '8'], source);
  t.equal(denied.code, 1);
  t.match(jsonLines(denied.stdout)[0], { result: false });
  const failed = await script([...words, '8'], '1 / 0 == 1');
  t.equal(failed.code, 1);
  const [division] = jsonLines(failed.stdout);
  t.match(division, { error: '/ by zero' });
  t.strictSame(division?.['vars'], []);
  writeFileSync(state, JSON.stringify({ data: { [base58.encode(address)]: { limit: 5 } } }));
  const mistaken = await script([...words, '7'], source);
  t.match(mistaken, { code: 1, stdout: '', stderr: 'The fixture is wrong: 5 is no value' });
  t.match(await script([...words, 'seven'], source), { code: 2, stderr: 'expected a height' });
});

t.test('test runs a file of cases', async (t) => {
  const good = await script(['test', vectors]);
  t.match([good.code, ...jsonLines(good.stdout)], [0, { cases: 147, failed: 0 }]);
  const file = join(t.testdir(), 'cases.json');
  const fixture = { chainId: 84, transactions: {}, state: {} };
  const scripts = [
    { source: 'true', complexity: 1 },
    { source: '1 == 2', complexity: 4 },
  ];
  writeFileSync(file, JSON.stringify({ fixture, scripts }));
  const bad = await script(['test', file]);
  t.equal(bad.code, 1);
  t.strictSame(jsonLines(bad.stdout), [
    { case: '1 == 2', what: 'complexity', expected: 4, actual: 3 },
    { cases: 2, failed: 1 },
  ]);
});
