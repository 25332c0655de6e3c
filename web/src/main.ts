import { mount } from 'svelte';
import './app.css';
import App from './App.svelte';
import { session } from './stores/session.svelte';

const target = document.getElementById('root');
if (target) void session.begin().then(() => mount(App, { target }));
