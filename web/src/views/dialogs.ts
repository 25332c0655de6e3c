/** All dialogs, as one file of the page. */

export { default as ChannelsDialog } from './channels/ChannelsDialog.svelte';
export { default as ChatsDialog } from './channels/ChatsDialog.svelte';
export { default as CircleDialog } from './gathering/CircleDialog.svelte';
export { default as AgreeDialog } from './gathering/AgreeDialog.svelte';
export { default as EndGatheringDialog } from './gathering/EndGatheringDialog.svelte';
export { default as AccessDialog } from './panel/AccessDialog.svelte';
export { default as AnswersDialog } from './panel/AnswersDialog.svelte';
export { default as GuardsDialog } from './panel/GuardsDialog.svelte';
export { default as InviteDialog } from './panel/InviteDialog.svelte';
export { default as RaiseDialog } from './panel/RaiseDialog.svelte';
export { default as RulesDialog } from './panel/RulesDialog.svelte';
export { default as CloseLinkDialog } from './sessions/CloseLinkDialog.svelte';
export { default as LinkDialog } from './sessions/LinkDialog.svelte';
export { default as StartDialog } from './sessions/StartDialog.svelte';
export { default as DeleteDialog } from './shell/DeleteDialog.svelte';
export { default as NewDialog } from './shell/NewDialog.svelte';
export { default as RenameDialog } from './shell/RenameDialog.svelte';
export { default as SearchDialog } from './shell/SearchDialog.svelte';
export { default as Shortcuts } from './shell/Shortcuts.svelte';
export { default as SignInDialog } from './shell/SignInDialog.svelte';
export { default as Switcher } from './shell/Switcher.svelte';
