// The second half of the fixed seeds; the halves run in parallel.
import t from 'tap';
import { fixedSeeds } from './seeds.ts';

fixedSeeds(t, 9, 16);
