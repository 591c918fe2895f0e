// Nodes of a toy network under seeds (network/seeds.ts): `FINALITY_SEEDS=1000` for many, `FINALITY_ROUNDS=300` for long
// ones.
import t from 'tap';
import { mutations } from './network/mutations.ts';
import { runSeed } from './network/seeds.ts';

const count = Number(process.env['FINALITY_SEEDS'] ?? 16);
const first = Number(process.env['FINALITY_FIRST_SEED'] ?? 1);
const rounds = Number(process.env['FINALITY_ROUNDS'] ?? 30);

t.test(`${count} seeds of ${rounds} rounds`, async (t) => {
  let finals = 0;
  let seen = 0;
  for (let seed = first; seed < first + count; seed++) {
    const { name, problems, finalHeight, evidence } = await runSeed(seed, { rounds });
    if (problems.length > 0) t.fail(`seed ${seed} (${name})`, { problems });
    finals += finalHeight - 1;
    seen += evidence;
  }
  t.comment(`${finals} blocks became final, ${seen} liars left evidence`);
  t.ok(finals > count, 'blocks become final');
  t.ok(seen > 0 || count < 16, 'liars leave evidence');
});

for (const { name, changed, kind, seed, options } of mutations) {
  t.test(`seed ${seed} fails where ${name}`, async (t) => {
    t.strictSame((await runSeed(seed, options)).problems, []);
    const { problems } = await runSeed(seed, { ...options, changed, kinds: [kind] });
    t.ok(
      problems.some((problem) => problem.kind === kind),
      JSON.stringify(problems),
    );
  });
}
