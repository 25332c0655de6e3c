/** Places of sessions and their links in a small picture. */

import type { LinkEntry } from './types';

export interface Node {
  id: string;
  x: number;
  y: number;
}

export interface Edge {
  link: string;
  from: { x: number; y: number };
  to: { x: number; y: number };
}

/** Meeting point of the lines of a link with three or more members. */
export interface Hub {
  link: string;
  x: number;
  y: number;
}

export interface Graph {
  width: number;
  height: number;
  nodes: Node[];
  edges: Edge[];
  hubs: Hub[];
}

const WIDTH = 320;
/** Room for a name at each side, and for one below. */
const MARGIN = { x: 56, y: 34 };
/** Distance between hubs with the same middle. */
const APART = 22;

function heightFor(count: number): number {
  return count <= 2 ? 84 : count <= 6 ? 210 : 300;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/**
 * Returns nodes on an oval; two are side by side. A link of two is a line. A larger one is a hub
 * with a line to each member.
 */
export function layout(ids: readonly string[], links: readonly LinkEntry[]): Graph {
  const height = heightFor(ids.length);
  const nodes = ids.map((id, index) => ({ id, ...onOval(index, ids.length, height) }));
  const places = new Map(nodes.map((node) => [node.id, node]));
  const graph: Graph = { width: WIDTH, height, nodes, edges: [], hubs: [] };
  for (const link of links) {
    const members = link.members.flatMap((member) => places.get(member.session) ?? []);
    if (members.length === 2) graph.edges.push({ link: link.id, from: members[0]!, to: members[1]! });
    if (members.length <= 2) continue;
    const hub = { link: link.id, ...free(middle(members), graph.hubs) };
    graph.hubs.push(hub);
    graph.edges.push(...members.map((to) => ({ link: link.id, from: hub, to })));
  }
  return graph;
}

function onOval(index: number, count: number, height: number): { x: number; y: number } {
  const middle = { x: WIDTH / 2, y: height / 2 - 8 };
  if (count === 1) return middle;
  const start = count === 2 ? Math.PI : -Math.PI / 2;
  const angle = start + (2 * Math.PI * index) / count;
  return {
    x: round(middle.x + (middle.x - MARGIN.x) * Math.cos(angle)),
    y: round(middle.y + (height / 2 - MARGIN.y) * Math.sin(angle)),
  };
}

function middle(places: readonly { x: number; y: number }[]): { x: number; y: number } {
  const sum = places.reduce((sum, place) => ({ x: sum.x + place.x, y: sum.y + place.y }), { x: 0, y: 0 });
  return { x: round(sum.x / places.length), y: round(sum.y / places.length) };
}

/** Returns the place, or the next free one beside it if a hub is there. */
function free(place: { x: number; y: number }, hubs: readonly Hub[]): { x: number; y: number } {
  const isTaken = ({ x, y }: { x: number; y: number }) =>
    hubs.some((hub) => Math.hypot(hub.x - x, hub.y - y) < APART - 1);
  let found = place;
  for (let step = 1; isTaken(found); step += 1) {
    const side = step % 2 === 0 ? -1 : 1;
    found = { x: place.x + side * Math.ceil(step / 2) * APART, y: place.y };
  }
  return found;
}
