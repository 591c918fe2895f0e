/** How the containers reach the gRPC interface: over socket files or over TCP. */
import type { ContainerIdentity, ContainerSetup } from '../container-interface.ts';
import type { GrpcContainer } from './container.ts';

export interface Reachable {
  readonly needsNetwork: boolean;
  open(container: GrpcContainer, of: ContainerIdentity): Promise<Reached>;
  close(): Promise<void>;
}

export interface Reached {
  /** NODE and NODE_PORT, from which clients make the address. */
  readonly node: string;
  readonly nodePort: string;
  readonly mounts: ContainerSetup['mounts'];
  close(): Promise<void>;
}
