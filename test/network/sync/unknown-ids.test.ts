// The ids of the blocks that a peer's chain has and ours has not.
import t from 'tap';
import { equal } from '../../../src/base/bytes.ts';
import { blockId, decodeBlock } from '../../../src/block/block.ts';
import { decodeIdList, encodeIds } from '../../../src/network/messages/block-messages.ts';
import { type UnknownIdsPorts, unknownIds } from '../../../src/network/sync/unknown-ids.ts';
import { mine, newChain, quiet, scheme } from '../../chain/chain-harness.ts';

t.test('blocks that come from others meanwhile leave no gap', async (t) => {
  const source = await newChain();
  const genesis = source.blockchain.tip().id;
  const blocks = [await mine(source), await mine(source), await mine(source)];
  const [a, b, c] = blocks.map(blockId) as [Uint8Array, Uint8Array, Uint8Array];
  const at = await newChain();
  at.clock.time = source.clock.time;
  const session = { nodeName: 'peer', offend: () => t.fail('nobody is to blame') };
  const ports = {
    scheme,
    blockchain: at.blockchain,
    invalid: { add: () => {}, has: () => false },
    peerTips: { ignore: () => {} },
    isOutdated: () => false,
    log: quiet,
    async ask(_session: unknown, _protocol: string, message: Uint8Array) {
      const [newest] = decodeIdList(message, scheme);
      if (equal(newest!, genesis)) return encodeIds({ common: genesis, next: [a] }, scheme);
      for (const { bytes } of blocks.slice(0, 2)) {
        await at.blockchain.append(decodeBlock(bytes, scheme));
      }
      return encodeIds({ common: a, next: [b, c] }, scheme);
    },
  } as unknown as UnknownIdsPorts;
  const target = { session, id: c } as never;
  const named: Uint8Array[] = [];
  for await (const ids of unknownIds(target, 10, new AbortController().signal, ports)) {
    named.push(...ids);
  }
  t.equal(named.length, 3);
  t.ok(
    [a, b, c].every((id, i) => equal(id, named[i]!)),
    'each follows the one before it',
  );
});
