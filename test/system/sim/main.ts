// Runs simulations: `npm run sim -- <seed> [--trace] [--seconds n] [--nodes n] [--count n] [--feature id] [--rollback n]`.
import { parseArgs } from 'node:util';
import { type SimOptions, simulate } from './simulate.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    trace: { type: 'boolean', default: false },
    seconds: { type: 'string', default: '2000' },
    nodes: { type: 'string' },
    count: { type: 'string', default: '1' },
    rollback: { type: 'string' },
    feature: { type: 'string', multiple: true, default: [] },
  },
});

const [given] = positionals;
const first = given === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(given);
const seconds = Number(values.seconds);
const nodes = values.nodes === undefined ? undefined : Number(values.nodes);
const features = values.feature.map(Number);
const rollbackMax = values.rollback === undefined ? undefined : Number(values.rollback);
const trace = values.trace ? (line: string) => console.log(line) : undefined;

let failed = 0;
for (let seed = first; seed < first + Number(values.count); seed++) {
  const start = Date.now();
  const options: SimOptions = { seed, seconds, nodes, trace, features, rollbackMax };
  try {
    const result = await simulate(options);
    console.log(`seed ${seed} ${Date.now() - start} ms ${JSON.stringify(result)}`);
  } catch (error) {
    failed++;
    console.error(`seed ${seed} failed:`, error);
    const shape = nodes === undefined ? '' : ` --nodes ${nodes}`;
    console.error(`npm run sim -- ${seed} --seconds ${seconds}${shape} --trace`);
  }
}
process.exit(failed === 0 ? 0 : 1);
