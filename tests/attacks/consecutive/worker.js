const channel = new BroadcastChannel('worker');
onmessage = message => {
  postMessage('');
  setInterval(() => channel.postMessage(message.data), 40);
};
