// The ticker of the native token, which each network chooses.
import t from 'tap';
import { base58 } from '../../src/base/base58.ts';
import { createChainScheme } from '../../src/crypto/chain-scheme.ts';
import { txFromJson } from '../../src/tx/json/encode.ts';
import { wholeNode } from '../node/in-process.ts';

t.test('messages and order pairs name the native token as the network does', async (t) => {
  const { family, accounts, clock } = await wholeNode(t);
  const [owner, other] = accounts;
  const scheme = createChainScheme(family, 'T'.charCodeAt(0), 'GOLD');
  const common = {
    version: 2,
    senderPublicKey: base58.encode(owner.publicKey),
    fee: 1,
    timestamp: clock.now(),
    proofs: [base58.encode(new Uint8Array(64))],
  };
  for (const fields of [
    { type: 4, recipient: other.text, amount: -1, attachment: '' },
    { type: 8, recipient: other.text, amount: -1 },
  ]) {
    t.throws(() => txFromJson({ ...common, ...fields }, scheme), { message: /-1 of GOLD/ });
  }
  const order = (priceAsset: string) => ({
    version: 2,
    senderPublicKey: common.senderPublicKey,
    matcherPublicKey: common.senderPublicKey,
    assetPair: { amountAsset: base58.encode(new Uint8Array(32).fill(1)), priceAsset },
    orderType: 'buy',
    price: 100_000_000,
    amount: 1,
    timestamp: clock.now(),
    expiration: clock.now() + 60_000,
    matcherFee: 300_000,
    proofs: common.proofs,
  });
  const exchange = (priceAsset: string) =>
    txFromJson(
      {
        ...common,
        type: 7,
        order1: order(priceAsset),
        order2: { ...order(priceAsset), orderType: 'sell' },
        price: 100_000_000,
        amount: 1,
        buyMatcherFee: 1,
        sellMatcherFee: 1,
      },
      scheme,
    );
  t.equal(exchange('GOLD').type, 7);
  t.throws(() => exchange('WEST'), 'another network calls its token so');
});
