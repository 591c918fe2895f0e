/**
 * The process of mad-peers.ts: connects to the port for peers repeatedly, begins as a node does,
 * and continues with random bytes, with shortened or changed frames of the protocol, or with
 * silence.
 */
import { connect } from 'node:net';
import { Rng } from '../../generators/random.ts';
import { formats } from '../../network/frames.ts';
import type { MadPeersJob } from './mad-peers.ts';

const samples = Object.values(formats).flatMap((format) => format.samples);
const MULTISTREAM = '\x13/multistream/1.0.0\n';
const NOISE = '\x07/noise\n';
const PAUSE_MS = 20;
const LIFE_MS_MAX = 500;

function spoilt(rng: Rng): Buffer {
  const bytes = Buffer.from(rng.chance(3) ? rng.bytes(rng.below(2_000)) : rng.pick(samples));
  for (let i = rng.below(4); i > 0 && bytes.length > 0; i--) {
    bytes[rng.below(bytes.length)] = rng.u32();
  }
  return rng.chance(4) ? bytes.subarray(0, rng.below(bytes.length + 1)) : bytes;
}

async function run({ port, connections, ms, seed }: MadPeersJob): Promise<number> {
  const until = performance.now() + ms;
  let frames = 0;

  async function line(rng: Rng): Promise<void> {
    while (performance.now() < until) {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => {});
      socket.resume();
      const closed = new Promise((resolve) => socket.once('close', resolve));
      if (rng.chance(5)) socket.write(spoilt(rng));
      else socket.write(rng.chance(5) ? MULTISTREAM : MULTISTREAM + NOISE);
      for (let i = rng.below(8); i > 0; i--) {
        socket.write(spoilt(rng));
        frames++;
      }
      const end = setTimeout(() => socket.destroy(), rng.below(LIFE_MS_MAX));
      await closed;
      clearTimeout(end);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }

  const lines = Array.from({ length: connections }, (_, i) => line(new Rng(seed + i)));
  await Promise.all(lines);
  return frames;
}

process.on('message', async (job) => {
  process.send?.(await run(job as MadPeersJob));
});
