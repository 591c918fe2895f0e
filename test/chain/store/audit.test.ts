/** The check of sums detects every change that makes or loses value. */
import t from 'tap';
import { UncommittedBlocks } from '../../../src/chain/import/uncommitted-blocks.ts';
import { auditChain, brokenByBlock, initialBalance } from '../../../src/chain/store/audit.ts';
import { accountOf, credit, leaseIn } from '../../../src/ledger/accounts.ts';
import { creditAsset } from '../../../src/ledger/assets.ts';
import { createOverlay, type KeyedOverlay } from '../../../src/ledger/overlay.ts';
import { feeCarry, leases } from '../../../src/ledger/tables.ts';
import { FUNDS, mine, miners, newChain, payment, users } from '../chain-harness.ts';

const [alice, bob] = users;
const asset = new Uint8Array(32).fill(1);

t.test('what one block may not do', async (t) => {
  const { blockchain } = await newChain();
  const broken = (write: (overlay: KeyedOverlay) => void): string => {
    const overlay = createOverlay(blockchain.view);
    write(overlay);
    return brokenByBlock(overlay.changes()).join('; ');
  };
  const move = (overlay: KeyedOverlay): void => {
    credit(overlay, alice.address, -5n);
    credit(overlay, bob.address, 5n);
  };
  t.equal(broken(move), '');
  t.equal(
    broken((of) => credit(of, alice.address, 5n)),
    'native balances changed by 5 in all',
  );
  t.equal(
    broken((of) => {
      credit(of, alice.address, -5n);
      of.set(feeCarry, 0, 5n);
    }),
    '',
    'what is kept for the next generator is not lost',
  );
  t.match(
    broken((of) => {
      credit(of, alice.address, -FUNDS - 1n);
      credit(of, bob.address, FUNDS + 1n);
    }),
    /^an account is negative: -1/,
  );
  t.match(
    broken((of) => leaseIn(of, alice.address, 3n)),
    'leases changed by 0, leased in by 3',
  );
  const lease = { sender: alice.address, recipient: bob.address, amount: 3n, height: 2 };
  t.match(
    broken((of) => of.set(leases, asset, { ...lease, active: true })),
    'leases changed by 3, leased in by 0, out by 0',
  );
  t.match(
    broken((of) => creditAsset(of, alice.address, asset, 9n)),
    'balances of an asset changed by 9 beside its quantity',
  );
});

t.test('a chain that goes wrong is found out at the first block', async (t) => {
  const at = await newChain();
  const { blockchain, clock } = at;
  t.equal(initialBalance(blockchain), FUNDS * BigInt(miners.length + users.length));
  const heard: string[] = [];
  const end = auditChain(blockchain, 'blocks', (broken) => heard.push(...broken));
  const block = await mine(at, [payment(alice, bob, 1n, clock.time)]);
  t.strictSame(heard, []);
  await blockchain.rollback(1);
  const wrong = blockchain.exclusive(async (chain) => {
    const applied = await chain.apply(
      blockchain.view,
      chain.tip(),
      { block, txs: [], verdicts: [] },
      new UncommittedBlocks(),
    );
    credit(applied.overlay, bob.address, 7n);
    await chain.commit([applied]);
  });
  await t.rejects(wrong, { message: /native balances changed by 7/ }, 'so the harness stops');
  t.strictSame(heard, []);
  end();
  t.equal(accountOf(blockchain.view, bob.address).balance, FUNDS + 7n);
  const stillWrong = { message: /native balances sum up to/ };
  await t.rejects(mine(at), stillWrong, 'the state tells it after each later block');
  await t.rejects(blockchain.rollback(2), stillWrong, 'and after a rollback that leaves it');
});
