/** The views of a gathering, as one file of the page. */

export { default as GatheringCircle } from './GatheringCircle.svelte';
export { default as GatheringPanel } from './GatheringPanel.svelte';
