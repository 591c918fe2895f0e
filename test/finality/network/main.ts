// Many seeds: `npm run test:finality -- [--from=1] [--count=1000] [--log]`.
import { parseArgs } from 'node:util';
import { runSeed } from './seeds.ts';

const { values } = parseArgs({
  options: {
    from: { type: 'string', default: '1' },
    count: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '30' },
    log: { type: 'boolean', default: false },
  },
});
const from = Number(values.from);
let failed = 0;
let finals = 0;
let evidence = 0;
const start = performance.now();
for (let seed = from; seed < from + Number(values.count); seed++) {
  const result = await runSeed(seed, { rounds: Number(values.rounds) });
  finals += result.finalHeight - 1;
  evidence += result.evidence;
  if (values.log) console.log(result.log.join('\n'));
  if (result.problems.length === 0) continue;
  failed++;
  console.log(
    `seed ${seed} (${result.name}): final ${result.finalHeight}, height ${result.height}`,
  );
  for (const { kind, what } of result.problems) console.log(`  ${kind}: ${what}`);
}
const seconds = (performance.now() - start) / 1000;
console.log(
  `${values.count} seeds, ${failed} failed, ${finals} final blocks, ${evidence} liars seen, ${seconds.toFixed(1)} s`,
);
process.exitCode = failed === 0 ? 0 : 1;
