// Honest neighbours whose heads differ by a block, while an account whose script permits anything
// sends what nobody has signed. A relay cannot know what its neighbour's head permits, so nobody is
// to blame, and the chain goes on. A miner that needs its neighbour for the quorum would stop.
import t, { type Test } from 'tap';
import { confirmedHeight } from '../../src/chain/store/stored-blocks.ts';
import { scripts } from '../../src/ledger/tables.ts';
import { blockProtocols } from '../../src/network/messages/block-messages.ts';
import type { Tx } from '../../src/tx/transaction.ts';
import { issue } from '../../src/tx/types/003-issue.ts';
import { createAlias } from '../../src/tx/types/010-create-alias.ts';
import { permit } from '../../src/tx/types/102-permit.ts';
import { account, payment, scheme } from '../chain/chain-harness.ts';
import {
  NOBODY,
  scriptTx,
  signedTx,
  tradeTx,
  transferTx,
} from '../system/crash/witness/unsigned.ts';
import { agree, type Cluster, type ClusterNode, cluster, tipOf } from './cluster.ts';

const COUNT = 20;
const FUNDS = 10_000_00000000n;
const alice = account('alice of the scripts');

interface Two {
  readonly at: Cluster;
  /** Makes all blocks, as long as the other one is connected. */
  readonly one: ClusterNode;
  readonly two: ClusterNode;
  readonly asset: Uint8Array;
  /** While it is on, neither hears of blocks of the other. */
  deaf: boolean;
}

/** Transactions that nobody has signed, of an account without a script at one of two heads. */
type Forge = (two: Two, n: number, time: number) => Tx;

const forgeries: Readonly<Record<string, Forge>> = {
  transfers: ({ one }, n, time) => transferTx(alice, one.address, n, time, NOBODY, scheme),
  aliases: (_two, n, time) =>
    signedTx(
      createAlias,
      2,
      { senderPublicKey: alice.publicKey, alias: `alias-${n}`, fee: 200_000_000n, timestamp: time },
      NOBODY,
      scheme,
    ),
  'orders of a trade': ({ one, asset }, n, time) =>
    tradeTx({ matcher: one, buyer: alice, seller: one, asset }, time - n, NOBODY, scheme),
};

async function start(t: Test): Promise<Two> {
  const at = await cluster(t, { miners: ['one', 'two'] });
  const [one, two] = await Promise.all([
    at.start('one', { set: ['miner.quorum=1'] }),
    at.start('two', { set: ['miner.enable=no'] }),
  ]);
  const quiet: readonly string[] = [blockProtocols.newBlock, blockProtocols.head];
  const made = { at, one, two, asset: new Uint8Array(), deaf: false };
  const isQuiet = (protocol: string): boolean => quiet.some((name) => protocol.endsWith(name));
  at.faults = ({ protocol }) => (made.deaf && isQuiet(protocol) ? { lost: true } : {});
  await at.rounds(2);
  const now = at.clock.now();
  const permits = ['issuer', 'dex'].map((role, i) =>
    signedTx(
      permit,
      1,
      {
        senderPublicKey: one.publicKey,
        target: { kind: 'address', bytes: one.address },
        opType: 'add',
        fee: permit.fee,
        timestamp: now + i,
        role,
      },
      one,
      scheme,
    ),
  );
  await mined(made, [payment(one, alice, FUNDS, now), ...permits]);
  const gold = { name: 'gold', description: 'gold', quantity: 1000n, decimals: 0 };
  const about = { reissuable: false, script: undefined, senderPublicKey: one.publicKey };
  const values = { ...gold, ...about, fee: issue.fee, timestamp: at.clock.now() };
  const asset = signedTx(issue, 2, values, one, scheme);
  await mined(made, [asset]);
  return Object.assign(made, { asset: asset.id });
}

async function mined({ at, one }: Two, txs: readonly Tx[]): Promise<void> {
  for (const tx of txs) await one.node.pool.submit(tx);
  const { view } = one.node.blockchain;
  const isMined = ({ id }: Tx): boolean => confirmedHeight(view, id) !== undefined;
  for (let i = 0; i < 10 && !txs.every(isMined); i++) await at.rounds(1);
  if (!txs.every(isMined)) throw new Error('it is never mined');
}

const isScripted = ({ node }: ClusterNode): boolean =>
  node.blockchain.view.get(scripts, alice.address) !== undefined;

const setScript = (two: Two, source: string | undefined): Promise<void> =>
  mined(two, [scriptTx(alice, source, two.at.clock.now(), alice, scheme)]);

/** The relay takes them all; its neighbour refuses them, and then hears of blocks again. */
async function relay(t: Test, two: Two, from: ClusterNode, to: ClusterNode, forge: Forge) {
  t.notSame(isScripted(from), isScripted(to), 'they differ in the script');
  const time = two.at.clock.now();
  const txs = Array.from({ length: COUNT }, (_, n) => forge(two, n, time));
  await Promise.all(txs.map((tx) => from.node.pool.submit(tx)));
  await two.at.seconds(3);
  const refused = to.log.of('tx.refused').filter(({ why }) => /validate as sign/.test(String(why)));
  t.ok(refused.length >= 4, `${refused.length} wrong proofs`);
  two.deaf = false;
  const { height } = tipOf(two.one);
  await two.at.rounds(12);
  const nodes = [two.one, two.two];
  for (const { log, name } of nodes) {
    t.strictSame(log.of('peer.offence'), [], `${name} blames nobody`);
  }
  t.ok(agree(nodes), 'one chain');
  t.ok(tipOf(two.one).height >= height + 4, 'which goes on');
  return txs;
}

for (const [name, forge] of Object.entries(forgeries)) {
  t.test(`${name}: the relay is a block ahead`, async (t) => {
    const two = await start(t);
    two.deaf = true;
    await setScript(two, 'true');
    const txs = await relay(t, two, two.one, two.two, forge);
    const { view } = two.two.node.blockchain;
    const some = txs.filter(({ id }) => confirmedHeight(view, id) !== undefined);
    t.ok(some.length > 0, 'the script permits them');
  });

  t.test(`${name}: the relay is a block behind`, async (t) => {
    const two = await start(t);
    await setScript(two, 'true');
    await two.at.rounds(2);
    two.deaf = true;
    await setScript(two, undefined);
    const txs = await relay(t, two, two.two, two.one, forge);
    const { view } = two.two.node.blockchain;
    t.notOk(txs.some(({ id }) => confirmedHeight(view, id) !== undefined));
  });
}
