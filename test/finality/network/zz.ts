import { mutations } from './mutations.ts';
import { runSeed } from './seeds.ts';
const only = process.argv[2]; const max = Number(process.argv[3] ?? 300); const more = JSON.parse(process.argv[4] ?? '{}');
for (const m of mutations) {
  if (only && !m.name.includes(only)) continue;
  const found: string[] = []; const t = performance.now(); let tried = 0;
  const stats: Record<string, number> = {};
  for (let seed = 1; seed <= max && found.length < 3; seed++) {
    tried++;
    const { problems } = await runSeed(seed, { ...m.options, ...more, changed: m.changed, kinds: m.kinds });
    for (const k of new Set(problems.map((p) => p.kind))) stats[k] = (stats[k] ?? 0) + 1;
    const hit = problems.find(({ kind }) => m.kinds.includes(kind));
    if (hit) found.push(`${seed} ${hit.kind}`);
  }
  console.log(m.name, found, tried, JSON.stringify(stats), ((performance.now() - t) / 1000).toFixed(1));
}
