/**
 * history: a page of the transactions of an address that has one for each transfer of a long chain,
 * beside the same page of an address whose transactions fit into the page.
 */

import { DEV_CHAIN_ID } from '../../src/cli/commands/dev/dev-network.ts';
import { cryptographyOf } from '../../src/cli/cryptography.ts';
import type { Bench } from '../bench.ts';
import { generateChain } from '../chain/generate.ts';
import { costRatioOf, figureOf, ratioOf } from '../measure/rounds.ts';
import { startNode } from '../node/node-process.ts';
import { perSecond, type RowResult, ratioAtLeast } from '../report/result.ts';
import { createSenders } from '../transfers/senders.ts';
import { readerOf } from './readers.ts';

const TRANSFERS = { full: 1_000_000, quick: 50_000 };
const PAGE = 100;

export async function history(bench: Bench): Promise<RowResult> {
  const notes: string[] = [];
  const transfers = TRANSFERS[bench.quick ? 'quick' : 'full'];
  const { scheme } = cryptographyOf(true, DEV_CHAIN_ID);
  const [few, many] = createSenders(2, scheme, 'bench reader').map(({ address }) => address);
  bench.say(`  making a chain of ${transfers} transfers`);
  const { folder } = await generateChain(bench.folder('history'), transfers, {
    recipientOf: (n) => (n < PAGE ? few! : many!),
  });
  const node = await startNode(folder, { execArgv: bench.nodeFlags });
  const reader = (name: string, address: Uint8Array) =>
    readerOf(bench, node, name, [
      `/transactions/address/${scheme.addressToText(address)}/limit/${PAGE}`,
    ]);
  const rounds = await bench.measure([reader('many', many!), reader('few', few!)], notes);
  await node.stop();

  const rate = (name: string) => perSecond(figureOf(rounds, name, (sample) => sample.perSecond));
  const ratio = ratioOf(rounds, 'many', 'few');
  return {
    row: 'history',
    title: 'transactions of an address',
    figures: [
      {
        what: `the newest ${PAGE} of ${transfers - PAGE}`,
        value: rate('many'),
        against: `all ${PAGE} of another ${rate('few')}`,
        ratio,
        perCpu: costRatioOf(rounds, 'many', 'few'),
      },
    ],
    goals: [{ level: 'Good', conditions: [ratioAtLeast(0.5, ratio, 'of the short one')] }],
    notes,
  };
}
