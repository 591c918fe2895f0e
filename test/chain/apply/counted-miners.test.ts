// The miners that count for the quorum, and which of them are connected.
import t from 'tap';
import { consensusView } from '../../../src/chain/apply/consensus-view.ts';
import {
  connectedOf,
  countedMiners,
  othersOfMajority,
} from '../../../src/chain/apply/counted-miners.ts';
import { createOverlay } from '../../../src/ledger/overlay.ts';
import { removeParticipant } from '../../../src/ledger/participants.ts';
import { scripts } from '../../../src/ledger/tables.ts';
import { type Account, GENESIS_TIME, miners, newChain, users } from '../chain-harness.ts';

const [one, two, three] = miners as [Account, Account, Account];

t.test('a miner with a script does not count, nor does one that was removed', async (t) => {
  const { blockchain } = await newChain();
  const view = createOverlay(blockchain.view);
  const counted = () => {
    const list = countedMiners(view, consensusView(view), GENESIS_TIME + 1);
    return miners.filter(({ address }) => list.some((it) => Buffer.compare(it, address) === 0));
  };
  t.strictSame(counted(), miners);
  view.set(scripts, two.address, new Uint8Array(10));
  t.strictSame(counted(), [one, three]);
  removeParticipant(view, three.address);
  t.strictSame(counted(), [one]);
});

t.test('of two parts one at most has a majority, whichever accounts are registered', async (t) => {
  const all = Array.from({ length: 5 }, (_, i) => new Uint8Array(26).fill(i));
  for (let count = 1; count <= all.length; count++) {
    const counted = all.slice(0, count);
    for (let parts = 0; parts < 2 ** all.length; parts++) {
      const has = (side: number): boolean => {
        const members = all.filter((_, i) => ((parts >> i) & 1) === side);
        return members.some((own) => {
          const others = connectedOf(counted, members, own);
          return others >= othersOfMajority(counted, own);
        });
      };
      t.notOk(has(0) && has(1), `${count} registered, parts ${parts.toString(2)}`);
    }
  }
});

t.test('another node of the own account is no other miner', async (t) => {
  const counted = [one, two].map(({ address }) => address);
  const connected = [one, two, two, three, users[0]].map(({ address }) => address);
  t.equal(connectedOf(counted, connected, users[1].address), 2);
  t.equal(connectedOf(counted, connected, one.address), 1);
});
