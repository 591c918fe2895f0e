// Who is to blame for a signed block that breaks a rule: the peer whose chain it is, unless this node
// lacks rules that others have.
import t from 'tap';
import { apiError } from '../../../src/base/errors.ts';
import type { BranchOutcome } from '../../../src/chain/fork/fork-choice.ts';
import type { Session } from '../../../src/network/sessions/session.ts';
import { Branch } from '../../../src/network/sync/adopt-branch.ts';
import { genesis, quiet } from '../../chain/chain-harness.ts';

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
    log: quiet,
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

/** What a branch that is never better ends with: `bytes` more than fit, or a block more than permitted. */
async function ended(depth: number, blocks: number, block: typeof genesis) {
  const seen = { errors: 0, ignored: 0 };
  const session = { nodeName: 'peer', offend: (what: string) => t.fail(what) } as never as Session;
  const branch = new Branch(session, {
    adopt: async () => ({ kind: 'not-better' }),
    depthMax: () => depth,
    peerTips: { ignore: () => void seen.ignored++ },
    watch: { adopted: () => {}, unusable: () => {} },
    isOutdated: () => false,
    log: { error: () => void seen.errors++ },
  });
  const one = { block, txs: [], verdicts: Promise.resolve([]), session };
  for (let at = 0; at < blocks; at += 100) await branch.extend(Array(100).fill(one));
  const { reason } = await branch.extend([one]).catch((cause) => cause);
  return { reason, ...seen };
}

t.test('a long branch that is not better', async (t) => {
  const tooMany = { reason: 'blamed', errors: 0, ignored: 0 };
  t.same(await ended(100, 1_000, genesis), tooMany);
  t.same(await ended(700, 1_400, genesis), tooMany);
  const large = { ...genesis, bytes: new Uint8Array(2.55 * 1024 * 1024) };
  const tooLarge = { reason: 'later', errors: 1, ignored: 1 };
  t.same(await ended(500, 100, large), { ...tooLarge }, 'halves with full blocks are not to blame');
});
