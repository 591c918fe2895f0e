// The genesis block that commands and nodes begin with.
import t from 'tap';
import { base58 } from '../../src/base/base58.ts';
import { signGenesis } from '../../src/block/genesis.ts';
import { genesisBlock } from '../../src/cli/genesis-block.ts';
import { createChainScheme } from '../../src/crypto/chain-scheme.ts';
import { createFamily } from '../../src/crypto/families.ts';
import { genesisSettings } from '../../src/node/config/genesis-section.ts';
import { consensusOf } from '../../src/node/open-consensus.ts';
import { seededRandom } from '../crypto/random.ts';
import { LEAST, OWNER, OWNER_KEY, read } from '../node/config/sample.ts';

const TIME = 1_600_000_000_000;
const TOTAL = 'initial-balance = "1000000 WEST"';

t.test('initial-balance is what the genesis block gives out', async (t) => {
  const family = createFamily('curve25519');
  const scheme = createChainScheme(family, 'T'.charCodeAt(0));
  const { publicKey, privateKey } = family.keyPairFromPhrase('founder', 0);
  const sign = (message: Uint8Array) => family.sign(privateKey, message, seededRandom('genesis'));
  const section = (consensus: string, lines: string) => `${LEAST}
    blockchain.consensus { type = ${consensus} }
    ntp.fatal-timeout = 5m
    blockchain.custom.genesis {
      transactions = [{ recipient = ${OWNER}, amount = "1000000 WEST" }]
      network-participants = [
        { public-key = ${OWNER_KEY}, roles = [permissioner, miner, connection_manager] }
      ]
      ${lines}
    }`;
  for (const consensus of ['pos', 'poa']) {
    const { config } = await read(section(consensus, TOTAL));
    const { header } = signGenesis(
      genesisSettings(config, TIME, scheme),
      { publicKey, sign },
      scheme,
    );
    const sealed = (total: string): string => `
      ${total}
      block-timestamp = ${TIME}
      genesis-public-key-base-58 = "${base58.encode(publicKey)}"
      signature = "${base58.encode(header.signature)}"`;
    for (const total of [TOTAL, 'initial-balance = "100000 WEST"', '']) {
      const { config } = await read(section(consensus, sealed(total)));
      const isRefused = consensus === 'pos' && total !== TOTAL;
      const name = `${consensus} ${total}`;
      if (isRefused)
        t.throws(() => genesisBlock(config), /write initial-balance = "100000000000000"/, name);
      else t.strictSame(genesisBlock(config).header, header, name);
      t.ok(consensusOf(config, TIME, scheme), name);
    }
  }
});
