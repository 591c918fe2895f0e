// Who is to blame for a signed block that breaks a rule: the peer whose chain it is, unless this node
// lacks rules that others have.
import t from 'tap';
import { apiError } from '../../../src/base/errors.ts';
import type { BranchOutcome } from '../../../src/chain/fork/fork-choice.ts';
import type { Session } from '../../../src/network/sessions/session.ts';
import { Branch } from '../../../src/network/sync/adopt-branch.ts';
import { genesis } from '../../chain/chain-harness.ts';

const { signature: id } = genesis.header;

async function given(isOutdated: boolean, isForged: boolean) {
  const offences: string[] = [];
  const ignored: Session[] = [];
  const session = { offend: (offence: string) => void offences.push(offence) } as never as Session;
  const error = apiError('Invalid', 'a rule is broken');
  const invalid: BranchOutcome = { kind: 'invalid', id, error, isForged };
  const branch = new Branch(session, {
    adopt: async () => invalid,
    depthMax: () => 100,
    peerTips: { ignore: (of) => void ignored.push(of) },
    watch: { adopted: () => {}, unusable: () => {} },
    isOutdated: () => isOutdated,
  });
  const block = { block: genesis, txs: [], verdicts: Promise.resolve([]), session };
  const { reason } = await branch.extend([block]).catch((cause) => cause);
  return { offences, ignored: ignored.length, reason };
}

t.test('a broken rule', async (t) => {
  t.same(await given(false, false), { offences: ['invalid-block'], ignored: 0, reason: 'blamed' });
  t.same(await given(true, false), { offences: [], ignored: 1, reason: 'later' });
});

t.test('a forged block needs no rule', async (t) => {
  t.same(await given(true, true), { offences: ['invalid-block'], ignored: 0, reason: 'blamed' });
});

t.test('a long branch that is not better is no offence, and ends', async (t) => {
  for (const [depth, most] of [
    [100, 1_000],
    [700, 1_400],
  ] as const) {
    const offences: string[] = [];
    let ignored = 0;
    const session = { offend: (what: string) => void offences.push(what) } as never as Session;
    const branch = new Branch(session, {
      adopt: async () => ({ kind: 'not-better' }),
      depthMax: () => depth,
      peerTips: { ignore: () => void ignored++ },
      watch: { adopted: () => {}, unusable: () => {} },
      isOutdated: () => false,
    });
    const block = { block: genesis, txs: [], verdicts: Promise.resolve([]), session };
    for (let at = 0; at < most; at += 100) await branch.extend(Array(100).fill(block));
    const { reason } = await branch.extend([block]).catch((cause) => cause);
    t.equal(reason, 'later', `more than ${most} blocks`);
    t.same({ offences, ignored }, { offences: [], ignored: 1 });
  }
});
