/**
 * The short form of `npm run test:mutations`: the program finds guards, a file passes with all of
 * them, and the test that holds one fails without it. So it cannot pass when that test is gone.
 */
import t from 'tap';
import { makeCopies } from './copies.ts';
import { nameOf, switchGuards } from './guards.ts';
import { reasonsInVain } from './reasons.ts';
import { tryFile } from './trial.ts';

/** By test file: guards that it holds. */
const sample: Readonly<Record<string, readonly string[]>> = {
  'test/chain/executed-twice.test.ts': [
    'src/tx/types/104-call-contract.ts apply: guardNotExecuted(ledger, transactionId);',
  ],
  'test/privacy/serving/waiting-requests.test.ts': [
    'src/privacy/serving/serve-items.ts ItemServer.answer: if (!this.mayReceive(request, peer.owner)) return await nothing(stream);',
  ],
  'test/tx/rules/order-rules.test.ts': [
    "src/tx/rules/order-rules.ts guardTrade: if (problem !== undefined) throw apiError('Invalid', problem);",
    "src/tx/rules/order-rules.ts tradeProblem: if (trade.amount <= 0n) return 'amount should be > 0';",
  ],
  'test/chain/store/unwinding.test.ts': [
    'src/chain/store/unwinding.ts requireReachable: to > from',
  ],
};

const FILE_MS_MAX = 60_000;

const SOURCE = `
function take(input: Input): string | undefined {
  if (input.size > 9) throw tooBig(input);
  if (input.isOld || input.isLate) return 'too old';
  if (known.has(input)) return known.get(input);
  requireMember(input.sender);
  try { use(input); } catch (cause) { throw wrapped(cause); }
  return input.isGood ? undefined : 'bad';
}`;

t.test('the guards of a source, each with a switch', async (t) => {
  const { guards, text } = switchGuards('a.ts', SOURCE, 5);
  t.strictSame(
    guards.map((guard) => [guard.kind, nameOf(guard)]),
    [
      ['throw', 'a.ts take: if (input.size > 9) throw tooBig(input);'],
      ['return', "a.ts take: if (input.isOld || input.isLate) return 'too old';"],
      ['part', 'a.ts take: input.isOld'],
      ['part', 'a.ts take: input.isLate'],
      ['call', 'a.ts take: requireMember(input.sender);'],
      ['throw', 'a.ts take: throw wrapped(cause);'],
      ['return', "a.ts take: return input.isGood ? undefined : 'bad';"],
    ],
  );
  t.equal(
    text,
    `
function take(input: Input): string | undefined {
  if (input.size > 9) { if (__guard(5)) throw tooBig(input); }
  if ((((input.isOld) && __guard(7)) || ((input.isLate) && __guard(8))) && __guard(6)) return 'too old';
  if (known.has(input)) return known.get(input);
  { if (__isOn(9)) try { requireMember(input.sender); } catch (cause) { __guard(9); throw cause; } }
  try { use(input); } catch (cause) { { if (__guard(10)) throw wrapped(cause); } }
  return (input.isGood) || !__guard(11) ? undefined : 'bad';
}`,
  );
});

const copies = makeCopies();
t.teardown(copies.remove);

t.test('without a guard its test fails', async (t) => {
  const names = copies.guards.map(nameOf);
  t.equal(new Set(names).size, names.length, 'no two guards have one name');
  for (const [file, held] of Object.entries(sample)) {
    const whole = await tryFile(copies, file, FILE_MS_MAX);
    t.equal(whole.failure, undefined, `${file} passes with all guards`);
    for (const name of held) {
      const number = names.indexOf(name);
      t.ok(number >= 0, name);
      t.ok(whole.acted.includes(number), 'it acts');
      const { failure } = await tryFile(copies, file, FILE_MS_MAX, number);
      t.type(failure, 'string', `${file} fails without it`);
    }
  }
});

t.test('every reason is about a guard that exists', async (t) => {
  t.strictSame(
    reasonsInVain(copies.guards, () => false),
    [],
  );
});
