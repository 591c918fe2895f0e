/** The program of the container. The node sends it transactions as long as it runs. */
import { serve } from './client/contract.ts';
import { points } from './contract.ts';

await serve(points);
