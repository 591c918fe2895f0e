import { generateKeyPair } from '@libp2p/crypto/keys';
import t from 'tap';
import { libp2pNetwork } from '../../../src/adapters/libp2p/transport.ts';
import { networkCompliance } from '../../compliance/network.ts';
import { createMemoryNet } from '../../simulated/memory-net.ts';

networkCompliance(t, 'memory', () => {
  const net = createMemoryNet({ after: (_ms, action) => setImmediate(action) });
  let count = 0;
  return {
    async host() {
      const host = `10.0.0.${++count}`;
      return { host, network: net.host(host) };
    },
  };
});

networkCompliance(t, 'libp2p', () => ({
  async host() {
    const { raw } = await generateKeyPair('Ed25519');
    return { host: '127.0.0.1', network: libp2pNetwork(raw) };
  },
}));
