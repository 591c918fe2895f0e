/** Scripts of accounts, of assets and of the owners of orders (docs/protocol/scripts.md). */
import t from 'tap';
import type { ApiError } from '../../../src/base/errors.ts';
import { base58 } from '../../../src/codec/text.ts';
import { scripts } from '../../../src/ledger/tables.ts';
import { calculateFee } from '../../../src/tx/rules/fees.ts';
import type { Tx } from '../../../src/tx/transaction.ts';
import { issue } from '../../../src/tx/types/003-issue.ts';
import { transfer } from '../../../src/tx/types/004-transfer.ts';
import { reissue } from '../../../src/tx/types/005-reissue.ts';
import { burn } from '../../../src/tx/types/006-burn.ts';
import { massTransfer } from '../../../src/tx/types/011-mass-transfer.ts';
import { data } from '../../../src/tx/types/012-data.ts';
import { setScript } from '../../../src/tx/types/013-set-script.ts';
import { sponsorFee } from '../../../src/tx/types/014-sponsor-fee.ts';
import { setAssetScript } from '../../../src/tx/types/015-set-asset-script.ts';
import { permit } from '../../../src/tx/types/102-permit.ts';
import { createPolicy } from '../../../src/tx/types/112-create-policy.ts';
import { seededRandom } from '../../crypto/random.ts';
import { family } from '../../family.ts';
import { compiled } from '../../generators/scripts.ts';
import { type Actor, createHarness, type Harness, scheme, WEST } from './ledger-harness.ts';

const EXTRA = 400_000n;

/** An actor whose key can sign. */
function signer(name: string): Actor & { readonly proof: (tx: Tx) => Uint8Array } {
  const { privateKey, publicKey } = family.keyPairFromPhrase(name);
  const address = scheme.addressOf(publicKey);
  return {
    publicKey,
    address,
    text: scheme.addressToText(address),
    to: { kind: 'address', bytes: address },
    proof: (tx) => family.sign(privateKey, tx.body, seededRandom(name)),
  };
}

const [owner, alice, bob, carol] = ['owner', 'alice', 'bob', 'carol'].map(signer) as [
  ReturnType<typeof signer>,
  ReturnType<typeof signer>,
  ReturnType<typeof signer>,
  ReturnType<typeof signer>,
];

const network = () =>
  createHarness({
    balances: [owner, alice, bob, carol].map((of) => [of, 100n * WEST] as const),
    participants: [
      [owner, ['miner', 'permissioner', 'connection_manager', 'issuer', 'contract_developer']],
    ],
  });

const pay = { recipient: bob.to, amount: 1n, fee: 1_000_000n + EXTRA };

/** Gives the account a script and puts it into a block. */
async function guard(h: Harness, of: Actor, source: string, fee = setScript.fee!): Promise<void> {
  h.send(setScript, of, { script: compiled(source), name: 'guard', description: '', fee });
  await h.mine();
}

/** A transaction with these proofs, in place of the harness's own. */
function proven(h: Harness, from: Actor, input: object, by: readonly (typeof alice | undefined)[]) {
  const bare = h.make(transfer, from, input);
  const proofs = by.map((one) => one?.proof(bare) ?? new Uint8Array(0));
  return h.make(transfer, from, input, { proofs });
}

function refusal(h: Harness, tx: Tx): ApiError {
  try {
    h.apply(tx);
  } catch (error) {
    return error as ApiError;
  }
  throw new Error('it was accepted');
}

const text = (bytes: Uint8Array): string => base58.encode(bytes);
const key = (of: Actor): string => `base58'${text(of.publicKey)}'`;
const vote = (i: number, of: Actor): string =>
  `let v${i} = if sigVerify(tx.bodyBytes, tx.proofs[${i}], ${key(of)}) then 1 else 0\n`;
const TWO_OF_THREE = `${vote(0, alice)}${vote(1, bob)}${vote(2, carol)}v0 + v1 + v2 >= 2`;

t.test('scenario 69: an account of several keys, by its script', async (t) => {
  const h = await network();
  await guard(h, alice, TWO_OF_THREE);
  const one = refusal(h, proven(h, alice, pay, [alice]));
  t.equal(one.code, 307);
  t.equal(one.message, 'Transaction is not allowed by account-script');
  t.match(one.body['script'], /^BLOCK\(LET\(v0,IF\(FUNCTION_CALL\(Native\(500\)/);
  t.same(one.body['vars'], [
    [
      { name: 'v0', value: 'CONST_LONG(1)' },
      { name: 'v1', value: 'CONST_LONG(0)' },
      { name: 'v2', value: 'CONST_LONG(0)' },
    ],
  ]);
  t.match(one.body['transaction'], { type: 4, sender: alice.text });
  t.equal(h.refusal(proven(h, alice, pay, [alice, carol, bob])), one.message, 'in their places');
  h.apply(proven(h, alice, pay, [alice, bob]));
  await h.mine();
  h.apply(proven(h, alice, pay, [undefined, bob, carol]));
  await h.mine();
});

t.test('scenario 69: errors and results that are no Boolean', async (t) => {
  const h = await network();
  await guard(h, alice, 'let x = 1\nlet y = x / 0\ny == 1');
  const { code, message, body } = refusal(h, h.make(transfer, alice, pay));
  t.equal(code, 306);
  t.equal(message, 'Error while executing account-script: / by zero');
  t.same(body['vars'], [
    [
      { name: 'x', value: 'CONST_LONG(1)' },
      { name: 'y', error: '/ by zero' },
    ],
  ]);
  // Only a binary can have such a result: CONST_LONG(1).
  const number = Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0, 0, 1);
  const bytes = Uint8Array.of(...number, ...family.secureHash(number).subarray(0, 4));
  h.draft.set(scripts, alice.address, bytes);
  t.equal(refusal(h, h.make(transfer, alice, pay)).code, 306);
});

t.test('an account with a script may send no proofs, or eight, in either style', async (t) => {
  const h = await network();
  await guard(h, alice, 'height >= 2 && size(tx.proofs) == 8');
  const proof = new Uint8Array(64);
  for (const count of [0, 1, 8]) {
    h.apply(
      h.make(
        transfer,
        alice,
        { ...pay, amount: BigInt(count + 1) },
        { proofs: Array(count).fill(proof) },
      ),
    );
  }
  h.apply(h.make(transfer, alice, { ...pay, amount: 50n }, { version: 1 }));
  await h.mine();
  t.equal(h.balance(alice), 100n * WEST - setScript.fee! - 4n * pay.fee - (1n + 2n + 9n + 50n));
});

t.test('a script is set, replaced by itself, and removed', async (t) => {
  const h = await network();
  await guard(h, alice, 'match tx { case s: SetScriptTransaction => true case _ => false }');
  t.equal(refusal(h, h.make(transfer, alice, pay)).code, 307);
  const about = { name: 'none', description: '' };
  const fee = setScript.fee! + EXTRA;
  const cheap = h.make(setScript, alice, { ...about, script: undefined });
  t.match(h.refusal(cheap), /does not exceed minimal value of '50400000'/);
  h.send(setScript, alice, { ...about, script: undefined, fee });
  await h.mine();
  h.apply(proven(h, alice, { ...pay, fee: 1_000_000n }, [alice]));
  await h.mine();
  await h.rollback(2);
  t.equal(refusal(h, h.make(transfer, alice, pay)).code, 307, 'a rollback brings it back');
});

t.test('what is no script is refused', async (t) => {
  const h = await network();
  const make = (script: Uint8Array) =>
    h.make(setScript, alice, { script, name: 'guard', description: '' });
  t.throws(() => make(Uint8Array.of(1, 6, 0, 0, 0, 0)), { message: 'Invalid checksum' });
  const costly = Array(20).fill("sigVerify(base58'', base58'', base58'')").join(' && ');
  t.throws(() => compiled(costly), { message: 'Script is too complex: 2079 > 2000' });
});

t.test('scenario 27: scripts and roles exclude each other', async (t) => {
  const h = await network();
  const script = compiled('true');
  t.equal(
    h.refusal(h.make(setScript, owner, { script, name: 'guard', description: '' })),
    'Script cannot be assigned to an account with a role other than contract_developer!',
  );
  await guard(h, alice, 'true');
  const give = (role: string) =>
    h.make(permit, owner, { target: alice.to, opType: 'add', role, dueTimestamp: undefined });
  t.equal(
    h.refusal(give('miner')),
    `Account ${alice.text} is scripted, so only the contract_developer role is allowed`,
  );
  h.apply(give('contract_developer'));
  await h.mine();
  const again = { script, name: 'guard', description: '', fee: setScript.fee! + EXTRA };
  h.send(setScript, alice, again);
  await h.mine();
});

t.test('names are declared once while feature 10 is not active', async (t) => {
  const preActivatedFeatures = new Map([3, 4, 5, 6, 7, 9].map((id) => [id, 0]));
  const h = await createHarness({
    balances: [[alice, 100n * WEST]],
    rules: { preActivatedFeatures },
  });
  const make = (source: string, fee = setScript.fee!) =>
    h.make(setScript, alice, { script: compiled(source), name: 'guard', description: '', fee });
  const twice = 'let a = {let x = 1; x == 1}\nlet b = {let x = 1; x == 1}\na && b';
  t.equal(h.refusal(make(twice)), "VarNames: duplicate variable names are temporarily denied: 'x'");
  h.apply(make(`{-# LANGUAGE_VERSION 2 #-}\n${twice}`));
  const matches =
    'let a = match tx { case _ => true }\nlet b = match tx { case _ => true }\na && b';
  await h.mine();
  h.apply(make(matches, setScript.fee! + EXTRA));
});

t.test('scenario 65: an author beside a sender with a script', async (t) => {
  const h = await network();
  const entry = { key: 'k', type: 'string', value: 'v' };
  const fee = data.fee! + EXTRA;
  const input = { authorPublicKey: bob.publicKey, data: [entry], fee };
  await guard(h, alice, 'match tx { case d: DataTransaction => true case _ => false }');
  const bare = h.make(data, alice, input);
  const by = (...of: (typeof bob)[]) =>
    h.make(data, alice, input, { proofs: of.map((one) => one.proof(bare)) });
  t.equal(h.refusal(by()), 'The first proof is not a signature of the author');
  t.equal(h.refusal(by(carol)), 'The first proof is not a signature of the author');
  const before = [h.balance(alice), h.balance(bob)];
  h.apply(by(bob));
  await h.mine();
  t.same([h.balance(alice), h.balance(bob)], [before[0], before[1]! - fee]);
  await guard(h, bob, 'true');
  t.match(h.refusal(by(bob)), /author of the data has a script/);
});

t.test('a type without a form in scripts', async (t) => {
  const h = await network();
  await guard(h, alice, 'true');
  const tx = h.make(createPolicy, alice, {
    policyName: 'p',
    description: '',
    recipients: [],
    owners: [alice.address],
    fee: WEST + EXTRA,
  });
  const error = refusal(h, tx);
  t.equal(error.code, 306);
  t.match(error.message, /CreatePolicyTransaction has no representation in scripts/);
});

t.test('scripts read the state', async (t) => {
  const h = await network();
  const paid = h.send(transfer, bob, { recipient: alice.to, amount: 5n });
  h.send(data, bob, {
    authorPublicKey: bob.publicKey,
    data: [{ key: 'open', type: 'boolean', value: true }],
  });
  await h.mine();
  const bobs = `Address(base58'${text(bob.address)}')`;
  const id = `base58'${text(paid.id)}'`;
  await guard(
    h,
    alice,
    `let paid = match transactionById(${id}) { case t: TransferTransaction => t.amount == 5 && t.sender == ${bobs} case _ => false }
     let unknown = isDefined(transactionById(base58'1111')) || isDefined(transactionHeightById(base58''))
     extract(getBoolean(${bobs}, "open")) && paid && !unknown && transactionHeightById(${id}) == 2
       && wavesBalance(tx.sender) > 0 && assetBalance(tx.sender, base58'11') == 0
       && addressFromPublicKey(tx.senderPublicKey) == tx.sender`,
  );
  h.apply(h.make(transfer, alice, pay));
  h.send(data, bob, {
    authorPublicKey: bob.publicKey,
    data: [{ key: 'open', type: 'boolean', value: false }],
  });
  t.equal(
    refusal(h, h.make(transfer, alice, { ...pay, amount: 2n })).code,
    307,
    'within a block too',
  );
});

const token = { name: 'Token', description: '', quantity: 1000n, decimals: 0, reissuable: true };

/** An asset that only its issuer may send to carol. */
const NOT_TO_CAROL = `
let carol = Address(base58'${text(carol.address)}')
match tx {
  case t: TransferTransaction => t.recipient != carol
  case m: MassTransferTransaction => m.transferCount == 0 || m.transfers[0].recipient != carol
  case e: ExchangeTransaction => e.sellOrder.sender != carol && e.buyOrder.sender != carol
  case _ => true
}`;

t.test('scenario 70: an asset whose script refuses', async (t) => {
  const h = await network();
  const script = compiled(NOT_TO_CAROL, 'asset');
  const { id: assetId } = h.send(issue, owner, { ...token, script });
  await h.mine();
  const fee = transfer.fee! + EXTRA;
  const send = (to: Actor, rest = {}) =>
    h.make(transfer, owner, { assetId, recipient: to.to, amount: 1n, fee, ...rest });
  t.match(
    h.refusal(send(bob, { fee: transfer.fee })),
    /does not exceed minimal value of '1400000'/,
  );
  h.apply(send(bob));
  const denied = refusal(h, send(carol));
  t.equal(denied.code, 307);
  t.equal(denied.message, 'Transaction is not allowed by token-script');
  const many = (to: Actor) =>
    h.make(massTransfer, owner, {
      assetId,
      transfers: [{ recipient: to.to, amount: 1n }],
      fee: massTransfer.fee! + 1_000_000n + EXTRA,
    });
  h.apply(many(bob));
  t.equal(refusal(h, many(carol)).code, 307);
  h.send(reissue, owner, { assetId, quantity: 1n, reissuable: true, fee: reissue.fee! + EXTRA });
  h.send(burn, owner, { assetId, amount: 1n, fee: burn.fee! + EXTRA });
  t.match(
    h.refusal(
      h.make(sponsorFee, owner, {
        assetId,
        isEnabled: true,
        minSponsoredAssetFee: 1n,
        fee: WEST + EXTRA,
      }),
    ),
    'Cannot enable sponsorship for a smart asset',
  );
  await h.mine();
});

t.test('the script of an asset is replaced, and never added', async (t) => {
  const h = await network();
  const { id: plain } = h.send(issue, owner, token);
  const { id: guarded } = h.send(issue, owner, {
    ...token,
    name: 'Other',
    script: compiled('true'),
  });
  await h.mine();
  const script = compiled(
    'match tx { case s: SetAssetScriptTransaction => true case _ => false }',
    'asset',
  );
  const set = (assetId: Uint8Array, fee: bigint, of: Actor = owner) =>
    h.make(setAssetScript, of, { assetId, script, fee });
  t.equal(h.refusal(set(plain, WEST)), 'Cannot set script on an asset issued without a script');
  h.apply(set(guarded, WEST + EXTRA));
  await h.mine();
  const send = h.make(transfer, owner, {
    assetId: guarded,
    recipient: bob.to,
    amount: 1n,
    fee: WEST,
  });
  t.equal(refusal(h, send).code, 307);
  t.throws(() => h.make(setAssetScript, owner, { assetId: guarded, script: undefined }), {
    message: 'Cannot set empty script',
  });
});

t.test(
  'scenario 67: an account with a script that moves an asset with a script pays for both',
  async (t) => {
    const h = await network();
    const { id: assetId } = h.send(issue, owner, { ...token, script: compiled('true', 'asset') });
    h.send(transfer, owner, {
      assetId,
      recipient: alice.to,
      amount: 10n,
      fee: transfer.fee! + EXTRA,
    });
    await h.mine();
    await guard(h, alice, 'true');
    const minimum = transfer.fee! + 2n * EXTRA;
    const make = (fee: bigint) =>
      h.make(transfer, alice, { assetId, recipient: bob.to, amount: 1n, fee });
    t.equal(calculateFee(make(0n), h.draft, h.block).feeAmount, minimum);
    t.match(h.refusal(make(minimum - 1n)), `does not exceed minimal value of '${minimum}'`);
    h.apply(make(minimum));
    await h.mine();
  },
);
